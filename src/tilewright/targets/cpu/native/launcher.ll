; The Python side: METH_FASTCALL functions that release the GIL, run the grid and poll signals now and then.

declare ptr @PyLong_FromLong(i64)
declare ptr @PyBytes_AsString(ptr)
declare i32 @PyErr_CheckSignals()
declare ptr @Py_BuildValue(ptr, ...)
declare void @PyErr_SetString(ptr, ptr)
@PyExc_TypeError = external global ptr

@launch_name = private constant [7 x i8] c"launch\00"
@launch_doc = private constant [83 x i8] c"launch(entry, slots, programs, threads, arena_bytes, habits) -> 0 or failure tuple\00"
@packed_name = private constant [14 x i8] c"launch_packed\00"
@packed_doc = private constant [90 x i8] c"launch_packed(entry, bytes, programs, threads, arena_bytes, habits) -> 0 or failure tuple\00"
@failure_format = private constant [8 x i8] c"(iyiii)\00"
@arity_message = private constant [29 x i8] c"launch() takes six arguments\00"

@tilewright_launch_method = global %MethodDef { ptr @launch_name, ptr @tilewright_launch, i32 128, ptr @launch_doc }
@tilewright_launch_packed_method = global %MethodDef {
  ptr @packed_name, ptr @tilewright_launch_packed, i32 128, ptr @packed_doc
}


; Every 20 ms the launching thread lets Python handle signals; an exception (Ctrl-C) stops the grid.
define internal void @poll_signals(ptr %launch, i64 %now) {
entry:
  %state_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_thread_state
  %state = load ptr, ptr %state_slot
  %never = icmp eq ptr %state, null
  br i1 %never, label %end, label %check_time

check_time:
  %last_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_polled_ns
  %last = load i64, ptr %last_slot
  %is_first = icmp eq i64 %last, 0
  br i1 %is_first, label %arm, label %compare

arm:
  store i64 %now, ptr %last_slot
  ret void

compare:
  %since = sub i64 %now, %last
  %due = icmp ugt i64 %since, 20000000
  br i1 %due, label %poll, label %end

poll:
  store i64 %now, ptr %last_slot
  call void @PyEval_RestoreThread(ptr %state)
  %arena = call ptr @interrupt_kernel()
  %status = call i32 @PyErr_CheckSignals()
  call void @enter_kernel(ptr %launch, ptr %arena)
  %raised = icmp ne i32 %status, 0
  br i1 %raised, label %interrupt, label %resume

interrupt:                                   ; the exception stays set in this thread's state
  call void @stop_with(ptr %launch, i32 3)
  br label %resume

resume:
  %new_state = call ptr @PyEval_SaveThread()
  store ptr %new_state, ptr %state_slot
  br label %end

end:
  ret void
}

; launch(entry, slots, programs, threads, arena_bytes, habits): 0, or (reason, message, x, y, z) of what stopped it.
; The slots are at an address.
define ptr @tilewright_launch(ptr %self, ptr %arguments, i64 %count) {
entry:
  %six = icmp eq i64 %count, 6
  br i1 %six, label %read, label %wrong_count

wrong_count:
  %type_error = load ptr, ptr @PyExc_TypeError
  call void @PyErr_SetString(ptr %type_error, ptr @arity_message)
  ret ptr null

read:
  %slots_at = getelementptr ptr, ptr %arguments, i64 1
  %slots_object = load ptr, ptr %slots_at
  %slots = call i64 @PyLong_AsLongLong(ptr %slots_object)
  %result = call ptr @launch_over(ptr %arguments, i64 %slots)
  ret ptr %result
}

; launch_packed(entry, bytes, ...): as launch, with the slots in a bytes object.
define ptr @tilewright_launch_packed(ptr %self, ptr %arguments, i64 %count) {
entry:
  %six = icmp eq i64 %count, 6
  br i1 %six, label %read, label %wrong_count

wrong_count:
  %type_error = load ptr, ptr @PyExc_TypeError
  call void @PyErr_SetString(ptr %type_error, ptr @arity_message)
  ret ptr null

read:
  %bytes_at = getelementptr ptr, ptr %arguments, i64 1
  %bytes = load ptr, ptr %bytes_at
  %data = call ptr @PyBytes_AsString(ptr %bytes)
  %slots = ptrtoint ptr %data to i64
  %result = call ptr @launch_over(ptr %arguments, i64 %slots)
  ret ptr %result
}

define internal ptr @launch_over(ptr %arguments, i64 %slots) {
entry:
  %kernel_object = load ptr, ptr %arguments
  %kernel = call i64 @PyLong_AsLongLong(ptr %kernel_object)
  %programs_at = getelementptr ptr, ptr %arguments, i64 2
  %programs_object = load ptr, ptr %programs_at
  %programs = call i64 @PyLong_AsLongLong(ptr %programs_object)
  %threads_at = getelementptr ptr, ptr %arguments, i64 3
  %threads_object = load ptr, ptr %threads_at
  %threads_given = call i64 @PyLong_AsLongLong(ptr %threads_object)
  %arena_at = getelementptr ptr, ptr %arguments, i64 4
  %arena_object = load ptr, ptr %arena_at
  %arena_bytes = call i64 @PyLong_AsLongLong(ptr %arena_object)
  %habits_at = getelementptr ptr, ptr %arguments, i64 5
  %habits_object = load ptr, ptr %habits_at
  %habits_address = call i64 @PyLong_AsLongLong(ptr %habits_object)
  %error = call ptr @PyErr_Occurred()
  %fine = icmp eq ptr %error, null
  br i1 %fine, label %go, label %bad_argument

bad_argument:
  ret ptr null

go:
  %habits = inttoptr i64 %habits_address to ptr
  %result = call ptr @launch_grid(i64 %kernel, i64 %slots, i64 %programs, i64 %threads_given, i64 %arena_bytes, ptr %habits)
  ret ptr %result
}

; Run a grid without the GIL: the number 0, a failure tuple, or null where a signal handler raised.
define internal ptr @launch_grid(i64 %kernel, i64 %slots, i64 %programs, i64 %threads_given, i64 %arena_bytes, ptr %habits) {
entry:
  %launch = alloca %Launch, align 64
  %some = icmp sgt i64 %programs, 0
  br i1 %some, label %prepare, label %success

prepare:
  call void @describe_launch(ptr %launch, i64 %kernel, i64 %slots, i64 %arena_bytes, ptr %habits)
  %known_name_slot = getelementptr %Habits, ptr %habits, i32 0, i32 $Habits_name
  %known_name = load ptr, ptr %known_name_slot
  %name_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_name
  store ptr %known_name, ptr %name_slot
  %threads_given32 = trunc i64 %threads_given to i32
  %threads = call i32 @threads_for(i32 %threads_given32)
  %state_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_thread_state
  %state = call ptr @PyEval_SaveThread()
  store ptr %state, ptr %state_slot
  call void @run_grid(ptr %launch, i64 %programs, i32 %threads, ptr %habits)
  %state_now = load ptr, ptr %state_slot
  call void @PyEval_RestoreThread(ptr %state_now)
  %raised = call ptr @PyErr_Occurred()
  %quiet = icmp eq ptr %raised, null
  br i1 %quiet, label %back, label %interrupted

interrupted:
  ret ptr null

back:
  %failed_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_failure
  %failed = load i32, ptr %failed_slot
  %ok = icmp eq i32 %failed, 0
  br i1 %ok, label %success, label %failure

failure:
  %message_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_message
  %message = load ptr, ptr %message_slot
  %x_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_failed_x
  %x = load i32, ptr %x_slot
  %y_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_failed_y
  %y = load i32, ptr %y_slot
  %z_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_failed_z
  %z = load i32, ptr %z_slot
  %tuple = call ptr (ptr, ...) @Py_BuildValue(ptr @failure_format, i32 %failed, ptr %message, i32 %x, i32 %y, i32 %z)
  ret ptr %tuple

success:
  %zero = call ptr @PyLong_FromLong(i64 0)
  ret ptr %zero
}

; Run its grid: 0 done, -1 an exception is set.
define i32 @tilewright_launch_again(ptr %again, ptr %slots, i64 %programs) {
entry:
  %kernel = load i64, ptr %again
  %arena_slot = getelementptr %Again, ptr %again, i32 0, i32 $Again_arena_bytes
  %arena_bytes = load i64, ptr %arena_slot
  %threads_slot = getelementptr %Again, ptr %again, i32 0, i32 $Again_threads
  %threads = load i64, ptr %threads_slot
  %habits_slot = getelementptr %Again, ptr %again, i32 0, i32 $Again_habits
  %habits = load ptr, ptr %habits_slot
  %raise_slot = getelementptr %Again, ptr %again, i32 0, i32 $Again_fail
  %raise = load ptr, ptr %raise_slot
  call void @Py_IncRef(ptr %raise)
  %slots_address = ptrtoint ptr %slots to i64
  %status = call ptr @launch_grid(i64 %kernel, i64 %slots_address, i64 %programs, i64 %threads, i64 %arena_bytes, ptr %habits)
  %failed = icmp eq ptr %status, null
  br i1 %failed, label %raised, label %ended

ended:
  %kind_slot = getelementptr i8, ptr %status, i64 8
  %kind = load ptr, ptr %kind_slot
  %is_failure = icmp eq ptr %kind, @PyTuple_Type
  br i1 %is_failure, label %tell, label %done

tell:                                        ; the function raises
  %reason = alloca ptr
  store ptr %status, ptr %reason
  %nothing = call ptr @PyObject_Vectorcall(ptr %raise, ptr %reason, i64 1, ptr null)
  call void @Py_DecRef(ptr %status)
  br label %raised

done:
  call void @Py_DecRef(ptr %status)
  call void @Py_DecRef(ptr %raise)
  ret i32 0

raised:
  call void @Py_DecRef(ptr %raise)
  ret i32 -1
}
