; The Python side: METH_FASTCALL functions that run grids, and poll signals now and then where they release the GIL.

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


; After 20 ms the launching thread releases the GIL, if it has not before; every 20 ms it lets Python handle signals, and an
; exception (Ctrl-C) stops the grid.
define internal void @poll_signals(ptr %launch, i64 %now) {
entry:
  %state_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_thread_state
  %state = load ptr, ptr %state_slot
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
  %has_gil = icmp eq ptr %state, null
  br i1 %has_gil, label %resume, label %ask

ask:
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

; Run a grid: the number 0, a failure tuple, or null where a signal handler raised.
define internal ptr @launch_grid(i64 %kernel, i64 %slots, i64 %programs, i64 %threads_given, i64 %arena_bytes, ptr %habits) {
entry:
  %launch = alloca %Launch, align 64
  %status = call i32 @run_launch(ptr %launch, i64 %kernel, i64 %slots, i64 %programs, i64 %threads_given, i64 %arena_bytes, ptr %habits)
  %done = icmp eq i32 %status, 0
  br i1 %done, label %success, label %stopped

success:
  %zero = call ptr @PyLong_FromLong(i64 0)
  ret ptr %zero

stopped:
  %raised = icmp slt i32 %status, 0
  br i1 %raised, label %interrupted, label %failure

interrupted:
  ret ptr null

failure:
  %tuple = call ptr @failure_of(ptr %launch)
  ret ptr %tuple
}

; The tuple (reason, message, x, y, z) of what stopped a launch.
define internal ptr @failure_of(ptr %launch) {
  %failed_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_failure
  %failed = load i32, ptr %failed_slot
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
}

; Run a grid: 0, -1 where a signal handler raised, 1 where %launch says what stopped it. The GIL is released unless the
; kernel's last launch says that this one takes less than 50 us, a hundredth of the time after which Python asks a thread
; for it: amid matmuls, which leave nothing in the caches, releasing it and taking it again takes a microsecond.
define internal i32 @run_launch(ptr %launch, i64 %kernel, i64 %slots, i64 %programs, i64 %threads_given, i64 %arena_bytes, ptr %habits) hot {
entry:
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
  %each = load atomic i64, ptr %habits monotonic, align 8
  %guess = call i64 @llvm.umul.fix.sat.i64(i64 %each, i64 %programs, i32 0)
  %before = sub i64 %guess, 1                ; 0: unknown
  %is_short = icmp ult i64 %before, 50000
  %waits_slot = getelementptr %Habits, ptr %habits, i32 0, i32 $Habits_waits
  %waits = load i64, ptr %waits_slot
  %ends = icmp eq i64 %waits, 0
  %keeps = and i1 %is_short, %ends
  br i1 %keeps, label %run, label %let_go

let_go:
  %state = call ptr @PyEval_SaveThread()
  store ptr %state, ptr %state_slot
  br label %run

run:
  call void @run_grid(ptr %launch, i64 %programs, i32 %threads, ptr %habits)
  %state_now = load ptr, ptr %state_slot
  %kept = icmp eq ptr %state_now, null
  br i1 %kept, label %back, label %take

take:
  call void @PyEval_RestoreThread(ptr %state_now)
  %raised = call ptr @PyErr_Occurred()
  %quiet = icmp eq ptr %raised, null
  br i1 %quiet, label %back, label %interrupted

interrupted:
  ret i32 -1

back:
  %failed_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_failure
  %failed = load i32, ptr %failed_slot
  %ok = icmp eq i32 %failed, 0
  br i1 %ok, label %success, label %failure

failure:
  ret i32 1

success:
  ret i32 0
}

; Run its grid: 0 done, -1 an exception is set.
define i32 @tilewright_launch_again(ptr %again, ptr %slots, i64 %programs) hot {
entry:
  %launch = alloca %Launch, align 64
  %kernel = load i64, ptr %again
  %arena_slot = getelementptr %Again, ptr %again, i32 0, i32 $Again_arena_bytes
  %arena_bytes = load i64, ptr %arena_slot
  %threads_slot = getelementptr %Again, ptr %again, i32 0, i32 $Again_threads
  %threads = load i64, ptr %threads_slot
  %habits_slot = getelementptr %Again, ptr %again, i32 0, i32 $Again_habits
  %habits = load ptr, ptr %habits_slot
  %raise_slot = getelementptr %Again, ptr %again, i32 0, i32 $Again_fail
  %raise = load ptr, ptr %raise_slot
  %slots_address = ptrtoint ptr %slots to i64
  %status = call i32 @run_launch(ptr %launch, i64 %kernel, i64 %slots_address, i64 %programs, i64 %threads, i64 %arena_bytes, ptr %habits)
  %failed = icmp sgt i32 %status, 0
  br i1 %failed, label %tell, label %end

tell:                                        ; the function raises; whoever holds this record's owner holds it
  call void @raise_failure(ptr %raise, ptr %launch)
  ret i32 -1

end:
  ret i32 %status
}

define internal void @raise_failure(ptr %raise, ptr %launch) {
  %reason = alloca ptr
  %tuple = call ptr @failure_of(ptr %launch)
  store ptr %tuple, ptr %reason
  %nothing = call ptr @PyObject_Vectorcall(ptr %raise, ptr %reason, i64 1, ptr null)
  call void @Py_DecRef(ptr %tuple)
  ret void
}
