%Made = type [ $MAP_BYTES x i8 ]

; CUlaunchConfig: grid, block, bytes of shared memory, stream, attributes, how many.
%Config = type { i32, i32, i32, i32, i32, i32, i32, ptr, ptr, i32 }

; Start a grid on the current stream: 0 done, -1 an exception is set; 1 where another context is current, where the
; driver refuses, which the slow path explains, and where something has to be made first.
define i32 @tilewright_cuda_launch(ptr %data, ptr %slots, i64 %programs) {
entry:
  %config = alloca %Config, align 8
  %scratch = alloca i64
  %parameters = alloca [$MOST_PARAMETERS x ptr]
  %copies = alloca [$MOST_MADE x %Made], align 64
  %current = alloca ptr
  %launch = load ptr, ptr %data
  %get_context_slot = getelementptr %CudaLaunch, ptr %data, i32 0, i32 $CudaLaunch_get_context
  %get_context = load ptr, ptr %get_context_slot
  %context_slot = getelementptr %CudaLaunch, ptr %data, i32 0, i32 $CudaLaunch_context
  %context = load ptr, ptr %context_slot
  %function_slot = getelementptr %CudaLaunch, ptr %data, i32 0, i32 $CudaLaunch_function
  %function = load ptr, ptr %function_slot
  %count_slot = getelementptr %CudaLaunch, ptr %data, i32 0, i32 $CudaLaunch_slots
  %count = load i64, ptr %count_slot
  store ptr null, ptr %current
  %asked = call i32 %get_context(ptr %current)
  %now = load ptr, ptr %current
  %is_current = icmp eq ptr %now, %context
  br i1 %is_current, label %head, label %other

head:
  %i = phi i64 [ 0, %entry ], [ %next, %point ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %point, label %slots_done

point:
  %value = getelementptr i64, ptr %slots, i64 %i
  %parameter = getelementptr ptr, ptr %parameters, i64 %i
  store ptr %value, ptr %parameter
  %next = add i64 %i, 1
  br label %head

slots_done:
  %user_grid = getelementptr i64, ptr %slots, i64 %count
  %made_count_slot = getelementptr %CudaLaunch, ptr %data, i32 0, i32 $CudaLaunch_made_count
  %made_count = load i64, ptr %made_count_slot
  %nothing_made = icmp eq i64 %made_count, 0
  br i1 %nothing_made, label %stream, label %remembered

remembered:
  %entries_slot = getelementptr %CudaLaunch, ptr %data, i32 0, i32 $CudaLaunch_made
  %entries = load ptr, ptr %entries_slot
  %entry_count_slot = getelementptr %CudaLaunch, ptr %data, i32 0, i32 $CudaLaunch_made_launches
  %entry_count = load i64, ptr %entry_count_slot
  %entry_bytes_slot = getelementptr %CudaLaunch, ptr %data, i32 0, i32 $CudaLaunch_made_bytes
  %entry_bytes = load i64, ptr %entry_bytes_slot
  %words = add i64 %count, 3
  br label %search

search:
  %e = phi i64 [ 0, %remembered ], [ %e_next, %differs ]
  %exists = icmp ult i64 %e, %entry_count
  br i1 %exists, label %look, label %other

look:
  %offset = mul i64 %e, %entry_bytes
  %entry_at = getelementptr i8, ptr %entries, i64 %offset
  %used = load i64, ptr %entry_at
  %key = getelementptr i64, ptr %entry_at, i64 1
  %is_used = icmp eq i64 %used, 1
  br i1 %is_used, label %compare, label %differs

compare:
  %w = phi i64 [ 0, %look ], [ %w_next, %same ]
  %any_left = icmp ult i64 %w, %words
  br i1 %any_left, label %word, label %found

word:
  %mine_at = getelementptr i64, ptr %slots, i64 %w
  %mine = load i64, ptr %mine_at
  %its_at = getelementptr i64, ptr %key, i64 %w
  %its = load i64, ptr %its_at
  %agree = icmp eq i64 %mine, %its
  br i1 %agree, label %same, label %differs

same:
  %w_next = add i64 %w, 1
  br label %compare

differs:
  %e_next = add i64 %e, 1
  br label %search

found:
  %start_grid = getelementptr i64, ptr %key, i64 %words
  %header_words = add i64 %words, 4
  %header = shl i64 %header_words, 3
  %header_up = add i64 %header, 63
  %header_bytes = and i64 %header_up, -64
  %made_at = getelementptr i8, ptr %entry_at, i64 %header_bytes
  %made_bytes = shl i64 %made_count, 7
  ; Another thread may write the entry while the driver has the GIL.
  call void @llvm.memcpy.p0.p0.i64(ptr align 64 %copies, ptr align 64 %made_at, i64 %made_bytes, i1 false)
  br label %made

made:
  %m = phi i64 [ 0, %found ], [ %m_next, %made ]
  %copy = getelementptr %Made, ptr %copies, i64 %m
  %made_index = add i64 %count, %m
  %made_parameter = getelementptr ptr, ptr %parameters, i64 %made_index
  store ptr %copy, ptr %made_parameter
  %m_next = add i64 %m, 1
  %more_made = icmp ult i64 %m_next, %made_count
  br i1 %more_made, label %made, label %stream

stream:
  %grid = phi ptr [ %user_grid, %slots_done ], [ %start_grid, %made ]
  %last_index = add i64 %count, %made_count
  %last = getelementptr ptr, ptr %parameters, i64 %last_index
  store i64 0, ptr %scratch
  store ptr %scratch, ptr %last
  %stream_of_slot = getelementptr %CudaLaunch, ptr %data, i32 0, i32 $CudaLaunch_stream_of
  %stream_of = load ptr, ptr %stream_of_slot
  %device_slot = getelementptr %CudaLaunch, ptr %data, i32 0, i32 $CudaLaunch_device
  %stream_object = call ptr @PyObject_Vectorcall(ptr %stream_of, ptr %device_slot, i64 1, ptr null)
  %none = icmp eq ptr %stream_object, null
  br i1 %none, label %raised, label %configure

configure:
  %handle = call i64 @PyLong_AsLongLong(ptr %stream_object)
  call void @Py_DecRef(ptr %stream_object)
  %stream_handle = inttoptr i64 %handle to ptr
  %x = load i64, ptr %grid
  %y_at = getelementptr i64, ptr %grid, i64 1
  %y = load i64, ptr %y_at
  %z_at = getelementptr i64, ptr %grid, i64 2
  %z = load i64, ptr %z_at
  %ctas_slot = getelementptr %CudaLaunch, ptr %data, i32 0, i32 $CudaLaunch_ctas
  %ctas = load i64, ptr %ctas_slot
  %width = mul i64 %x, %ctas
  %width32 = trunc i64 %width to i32
  store i32 %width32, ptr %config
  %y32 = trunc i64 %y to i32
  %grid_y = getelementptr %Config, ptr %config, i32 0, i32 1
  store i32 %y32, ptr %grid_y
  %z32 = trunc i64 %z to i32
  %grid_z = getelementptr %Config, ptr %config, i32 0, i32 2
  store i32 %z32, ptr %grid_z
  %threads_slot = getelementptr %CudaLaunch, ptr %data, i32 0, i32 $CudaLaunch_threads
  %threads = load i64, ptr %threads_slot
  %threads32 = trunc i64 %threads to i32
  %block_x = getelementptr %Config, ptr %config, i32 0, i32 3
  store i32 %threads32, ptr %block_x
  %block_y = getelementptr %Config, ptr %config, i32 0, i32 4
  store i32 1, ptr %block_y
  %block_z = getelementptr %Config, ptr %config, i32 0, i32 5
  store i32 1, ptr %block_z
  %shared_slot = getelementptr %CudaLaunch, ptr %data, i32 0, i32 $CudaLaunch_shared_bytes
  %shared = load i64, ptr %shared_slot
  %shared32 = trunc i64 %shared to i32
  %shared_bytes = getelementptr %Config, ptr %config, i32 0, i32 6
  store i32 %shared32, ptr %shared_bytes
  %its_stream = getelementptr %Config, ptr %config, i32 0, i32 7
  store ptr %stream_handle, ptr %its_stream
  %attributes_slot = getelementptr %CudaLaunch, ptr %data, i32 0, i32 $CudaLaunch_attributes
  %attributes = load ptr, ptr %attributes_slot
  %its_attributes = getelementptr %Config, ptr %config, i32 0, i32 8
  store ptr %attributes, ptr %its_attributes
  %attribute_count_slot = getelementptr %CudaLaunch, ptr %data, i32 0, i32 $CudaLaunch_attribute_count
  %attribute_count = load i64, ptr %attribute_count_slot
  %attribute_count32 = trunc i64 %attribute_count to i32
  %its_count = getelementptr %Config, ptr %config, i32 0, i32 9
  store i32 %attribute_count32, ptr %its_count
  ; A full queue makes the driver wait, for what may need the GIL.
  %state = call ptr @PyEval_SaveThread()
  %status = call i32 %launch(ptr %config, ptr %function, ptr %parameters, ptr null)
  call void @PyEval_RestoreThread(ptr %state)
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %done, label %other

done:
  ret i32 0

other:
  ret i32 1

raised:
  ret i32 -1
}
