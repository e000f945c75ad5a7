; A program that touches memory which is not there ends the process. Before it does, this names the kernel and the
; program on standard error, and calls whoever had the signal before. All of it is async-signal-safe.

@running = internal global i32 0            ; key of the arena whose kernel a thread runs
@running_launch = internal global i32 0     ; key of its launch, on a stack: a wild kernel may write over its arena's header
@before_segv = internal global [24 x i64] zeroinitializer, align 16
@before_bus = internal global [24 x i64] zeroinitializer, align 16
@told = internal global i32 0

@crash_start = private constant [22 x i8] c"\0Atilewright: kernel '\00"
@crash_program = private constant [13 x i8] c"', program (\00"
@crash_comma = private constant [3 x i8] c", \00"
@crash_access = private constant [14 x i8] c"): an access \00"
@crash_overwritten = private constant [49 x i8] c"', which wrote over memory of others: an access \00"
@crash_to = private constant [13 x i8] c"to address 0\00"
@crash_where = private constant [40 x i8] c" where there is no memory for it, ends \00"
@crash_segv = private constant [24 x i8] c"the process (SIGSEGV). \00"
@crash_bus = private constant [23 x i8] c"the process (SIGBUS). \00"
@crash_advice = private constant [98 x i8] c"Is a mask missing? TILEWRIGHT_SANITIZE=bounds in the environment has the kernel name the access.\0A\00"

declare i32 @pthread_key_create(ptr, ptr)
declare i32 @pthread_setspecific(i32, ptr)
declare ptr @pthread_getspecific(i32)
declare i32 @sigaction(i32, ptr, ptr)
declare i32 @raise(i32)
declare i64 @write(i32, ptr, i64)

; This thread runs the launch's kernel in an arena from now on.
define internal void @enter_kernel(ptr %launch, ptr %arena) alwaysinline {
  %launch_key = load i32, ptr @running_launch
  %known = call i32 @pthread_setspecific(i32 %launch_key, ptr %launch)
  %key = load i32, ptr @running
  %status = call i32 @pthread_setspecific(i32 %key, ptr %arena)
  ret void
}

; It does no longer.
define internal void @leave_kernel() alwaysinline {
  %key = load i32, ptr @running
  %status = call i32 @pthread_setspecific(i32 %key, ptr null)
  ret void
}

; The arena of the kernel that this thread runs, and it runs it no longer, until `enter_kernel`.
define internal ptr @interrupt_kernel() {
  %key = load i32, ptr @running
  %arena = call ptr @pthread_getspecific(i32 %key)
  call void @leave_kernel()
  ret ptr %arena
}

define void @tilewright_watch_crashes() {
  %status = call i32 @pthread_key_create(ptr @running, ptr null)
  %other = call i32 @pthread_key_create(ptr @running_launch, ptr null)
  call void @watch(i32 11, ptr @before_segv)
  call void @watch(i32 $SIGBUS, ptr @before_bus)
  ret void
}

; Take a signal, under the mask and with the flags of whoever had it.
define internal void @watch(i32 %signal, ptr %before) {
  %action = alloca [24 x i64], align 16
  %known = call i32 @sigaction(i32 %signal, ptr null, ptr %before)
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %action, ptr align 16 %before, i64 192, i1 false)
  store ptr @on_fault, ptr %action
  %flags_slot = getelementptr i8, ptr %action, i64 $SA_FLAGS_AT
  %flags = load i32, ptr %flags_slot
  %with = or i32 %flags, $SA_SIGINFO_AND_ONSTACK
  %once = xor i32 $SA_RESETHAND, -1
  %lasting = and i32 %with, %once
  store i32 %lasting, ptr %flags_slot
  %taken = call i32 @sigaction(i32 %signal, ptr %action, ptr null)
  ret void
}

define internal void @on_fault(i32 %signal, ptr %info, ptr %context) {
entry:
  %key = load i32, ptr @running
  %arena = call ptr @pthread_getspecific(i32 %key)
  %elsewhere = icmp eq ptr %arena, null
  br i1 %elsewhere, label %chain, label %ours

ours:                                        ; by several threads at a time, perhaps
  %told = atomicrmw add ptr @told, i32 1 monotonic
  %few = icmp ult i32 %told, 4
  br i1 %few, label %tell, label %chain

tell:
  call void @tell(i32 %signal, ptr %info, ptr %arena)
  br label %chain

chain:
  call void @call_before(i32 %signal, ptr %info, ptr %context)
  ret void
}

; Hand a signal to whoever had it before. What nobody handles comes again when this returns, and ends the process.
define internal void @call_before(i32 %signal, ptr %info, ptr %context) {
entry:
  %is_segv = icmp eq i32 %signal, 11
  %before = select i1 %is_segv, ptr @before_segv, ptr @before_bus
  %handler = load ptr, ptr %before
  %address = ptrtoint ptr %handler to i64
  %is_none = icmp ult i64 %address, 2        ; SIG_DFL, SIG_IGN
  %code_slot = getelementptr i8, ptr %info, i64 8
  %code = load i32, ptr %code_slot
  %is_sent = icmp sle i32 %code, 0
  br i1 %is_none, label %nobody, label %somebody

nobody:
  %is_ignored = icmp eq i64 %address, 1
  %nothing = and i1 %is_ignored, %is_sent
  br i1 %nothing, label %end, label %default

default:
  %restored = call i32 @sigaction(i32 %signal, ptr %before, ptr null)
  br i1 %is_sent, label %again, label %end

again:
  %raised = call i32 @raise(i32 %signal)
  br label %end

somebody:
  %flags_slot = getelementptr i8, ptr %before, i64 $SA_FLAGS_AT
  %flags = load i32, ptr %flags_slot
  %wants_info = and i32 %flags, $SA_SIGINFO
  %is_simple = icmp eq i32 %wants_info, 0
  br i1 %is_simple, label %simple, label %full

simple:
  call void %handler(i32 %signal)
  br label %end

full:
  call void %handler(i32 %signal, ptr %info, ptr %context)
  br label %end

end:
  ret void
}

define internal void @tell(i32 %signal, ptr %info, ptr %arena) {
entry:
  %text = alloca [1024 x i8]
  %key = load i32, ptr @running_launch
  %launch = call ptr @pthread_getspecific(i32 %key)
  %name_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_name
  %name = load ptr, ptr %name_slot
  %t0 = call ptr @put_text(ptr %text, ptr @crash_start)
  %t1 = call ptr @put_text(ptr %t0, ptr %name)
  %header = getelementptr i8, ptr %arena, i64 -$sizeof_ArenaHeader
  %said = load ptr, ptr %header
  %is_whole = icmp eq ptr %said, %launch
  br i1 %is_whole, label %program, label %overwritten

program:
  %id = call { i32, i32, i32 } @program_id(ptr %arena)
  %x = extractvalue { i32, i32, i32 } %id, 0
  %y = extractvalue { i32, i32, i32 } %id, 1
  %z = extractvalue { i32, i32, i32 } %id, 2
  %x64 = zext i32 %x to i64
  %y64 = zext i32 %y to i64
  %z64 = zext i32 %z to i64
  %t2 = call ptr @put_text(ptr %t1, ptr @crash_program)
  %t3 = call ptr @put_number(ptr %t2, i64 %x64, i64 10)
  %t4 = call ptr @put_text(ptr %t3, ptr @crash_comma)
  %t5 = call ptr @put_number(ptr %t4, i64 %y64, i64 10)
  %t6 = call ptr @put_text(ptr %t5, ptr @crash_comma)
  %t7 = call ptr @put_number(ptr %t6, i64 %z64, i64 10)
  %t8 = call ptr @put_text(ptr %t7, ptr @crash_access)
  br label %access

overwritten:                                 ; nothing but the launch can be trusted
  %o = call ptr @put_text(ptr %t1, ptr @crash_overwritten)
  br label %access

access:
  %a = phi ptr [ %t8, %program ], [ %o, %overwritten ]
  %address_slot = getelementptr i8, ptr %info, i64 $SI_ADDR_AT
  %address = load i64, ptr %address_slot
  %code_slot = getelementptr i8, ptr %info, i64 8
  %code = load i32, ptr %code_slot
  %is_fault = icmp sgt i32 %code, 0
  %is_named = icmp ne i64 %address, 0
  %is_known = and i1 %is_fault, %is_named
  br i1 %is_known, label %where, label %rest

where:
  %w0 = call ptr @put_text(ptr %a, ptr @crash_to)
  store i8 120, ptr %w0                      ; x
  %w1 = getelementptr i8, ptr %w0, i64 1
  %w2 = call ptr @put_number(ptr %w1, i64 %address, i64 16)
  store i8 44, ptr %w2                       ; comma
  %w3 = getelementptr i8, ptr %w2, i64 1
  %w4 = call ptr @put_text(ptr %w3, ptr @crash_where)
  br label %finish

rest:
  %r0 = getelementptr i8, ptr @crash_where, i64 1
  %r1 = call ptr @put_text(ptr %a, ptr %r0)
  br label %finish

finish:
  %f0 = phi ptr [ %w4, %where ], [ %r1, %rest ]
  %is_segv = icmp eq i32 %signal, 11
  %kind = select i1 %is_segv, ptr @crash_segv, ptr @crash_bus
  %f1 = call ptr @put_text(ptr %f0, ptr %kind)
  %f2 = call ptr @put_text(ptr %f1, ptr @crash_advice)
  %start = ptrtoint ptr %text to i64
  %stop = ptrtoint ptr %f2 to i64
  %length = sub i64 %stop, %start
  %written = call i64 @write(i32 2, ptr %text, i64 %length)
  ret void
}

; Copy a text that ends with a zero byte, 200 bytes at most, and return where it ends.
define internal ptr @put_text(ptr %to, ptr %text) {
entry:
  %none = icmp eq ptr %text, null
  br i1 %none, label %end, label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %copy ]
  %from = getelementptr i8, ptr %text, i64 %i
  %byte = load i8, ptr %from
  %some = icmp ne i8 %byte, 0
  %fits = icmp ult i64 %i, 200
  %more = and i1 %some, %fits
  br i1 %more, label %copy, label %end
copy:
  %at = getelementptr i8, ptr %to, i64 %i
  store i8 %byte, ptr %at
  %next = add i64 %i, 1
  br label %head
end:
  %count = phi i64 [ 0, %entry ], [ %i, %head ]
  %stop = getelementptr i8, ptr %to, i64 %count
  ret ptr %stop
}

; Write a number to a base of at most 16, and return where it ends.
define internal ptr @put_number(ptr %to, i64 %number, i64 %base) {
entry:
  %digits = alloca [64 x i8]
  br label %head
head:
  %i = phi i64 [ 63, %entry ], [ %next, %head ]
  %left = phi i64 [ %number, %entry ], [ %rest, %head ]
  %digit = urem i64 %left, %base
  %rest = udiv i64 %left, %base
  %is_decimal = icmp ult i64 %digit, 10
  %zero = select i1 %is_decimal, i64 48, i64 87
  %letter = add i64 %digit, %zero
  %byte = trunc i64 %letter to i8
  %at = getelementptr i8, ptr %digits, i64 %i
  store i8 %byte, ptr %at
  %next = sub i64 %i, 1
  %more = icmp ne i64 %rest, 0
  br i1 %more, label %head, label %copy
copy:
  %length = sub i64 64, %i
  %from = getelementptr i8, ptr %digits, i64 %i
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %length, i1 false)
  %stop = getelementptr i8, ptr %to, i64 %length
  ret ptr %stop
}
