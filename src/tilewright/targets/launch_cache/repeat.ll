; Launches that are made again: `kernel[grid](x, y, n, BLOCK=1024)` as a native function, for calls whose arguments are
; like those of a call that Python has seen through. `runtime/repeating.py` writes down what that call was (%Repeat) and
; says what a match means; whatever does not match, or is unusual, goes to the function that the table names.
;
; Why it is not Python: a kernel that streams through the caches leaves nothing of the interpreter in them. A launch of
; 3 us that way takes 25 us behind a vector sum of 12 MiB, and workers go to sleep meanwhile.

; The extent of one pointer's memory: first byte, end, 1 if that is the whole allocation, how it may be shared, and the
; pointer.
%Extent = type { i64, i64, i64, i64, i64 }

; Where PyTorch's tensor object has its TensorImpl, which has the storage, the offset into it in elements, and 16 bytes
; after that the dtype (2 bytes) and the device (type and number). (`object_layouts.py` finds and checks them.)
@tensor_at = internal global i64 0
@storage_at = internal global i64 0
@offset_at = internal global i64 0
@copies_later = internal global i64 0       ; the deleter of storages that are copied when they are written

@repeat_name = private constant [7 x i8] c"launch\00"
@repeat_doc = private constant [50 x i8] c"launch(grid, *arguments, **constants): the kernel\00"
@tilewright_repeat_method = global %MethodDef { ptr @repeat_name, ptr @tilewright_repeat, i32 130, ptr @repeat_doc }

@array_class = internal global ptr null
@item_size_at = internal global i64 0       ; where a NumPy dtype keeps the size of an element
@PyLong_Type = external global i8
@PyFunction_Type = external global i8

declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr)
declare double @PyFloat_AsDouble(ptr)
declare i64 @PyTuple_Size(ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
declare i64 @PyList_Size(ptr)
declare ptr @PyDict_GetItemWithError(ptr, ptr)
declare ptr @PyDict_Copy(ptr)
declare i32 @PyDict_SetItem(ptr, ptr, ptr)
declare void @PyErr_Clear()

; Before the first call, and when PyTorch was imported: NumPy's array class, where its dtypes keep the size of an element,
; and where PyTorch keeps what is read of tensors.
define void @tilewright_repeat_init(ptr %array_class, i64 %item_size_at, i64 %tensor_at, i64 %storage_at, i64 %offset_at, i64 %copies_later) {
  store ptr %array_class, ptr @array_class
  store i64 %item_size_at, ptr @item_size_at
  store i64 %tensor_at, ptr @tensor_at
  store i64 %storage_at, ptr @storage_at
  store i64 %offset_at, ptr @offset_at
  store i64 %copies_later, ptr @copies_later
  ret void
}

; launch(grid, *arguments, **constants). %self is a tuple: address of the %Table, function for calls that are not known.
define ptr @tilewright_repeat(ptr %self, ptr %arguments, i64 %count, ptr %names) {
entry:
  %slots = alloca [$MOST_WORDS x i64], align 64
  %extents = alloca [3 x i64]
  %address_object = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %address = call i64 @PyLong_AsLongLong(ptr %address_object)
  %table = inttoptr i64 %address to ptr
  %hooks_slot = getelementptr %Table, ptr %table, i32 0, i32 $Table_hooks
  %hooks = load ptr, ptr %hooks_slot
  %hook_count = call i64 @PyList_Size(ptr %hooks)
  %unwatched = icmp eq i64 %hook_count, 0
  br i1 %unwatched, label %grid, label %unknown

grid:
  %given = icmp sgt i64 %count, 0
  br i1 %given, label %read_grid, label %unknown

read_grid:
  %grid_object = load ptr, ptr %arguments
  %grid_class_slot = getelementptr i8, ptr %grid_object, i64 8
  %grid_class = load ptr, ptr %grid_class_slot
  %is_function = icmp eq ptr %grid_class, @PyFunction_Type
  %plain_programs = call i64 @read_grid(ptr %grid_object, ptr %extents)
  %is_plain = icmp sgt i64 %plain_programs, 0
  %usual = or i1 %is_plain, %is_function
  br i1 %usual, label %search, label %unknown

search:
  %own_arguments = getelementptr ptr, ptr %arguments, i64 1
  %own_count = sub i64 %count, 1
  %call = call ptr @find_call(ptr %table, ptr %own_arguments, i64 %own_count, ptr %names, ptr %slots)
  %none = icmp eq ptr %call, null
  br i1 %none, label %unknown, label %found

found:                                       ; from here on other code of Python may run, and change the table
  %owner_slot = getelementptr %Repeat, ptr %call, i32 0, i32 $Repeat_owner
  %owner = load ptr, ptr %owner_slot
  call void @Py_IncRef(ptr %owner)
  br i1 %is_function, label %ask, label %launch

ask:
  %asked_programs = call i64 @ask_grid(ptr %call, ptr %arguments, ptr %extents)
  %is_answered = icmp sgt i64 %asked_programs, 0
  br i1 %is_answered, label %launch, label %give_up

launch:
  %all_programs = phi i64 [ %plain_programs, %found ], [ %asked_programs, %ask ]
  %status = call i32 @start(ptr %call, ptr %slots, ptr %extents, i64 %all_programs)
  %done = icmp eq i32 %status, 0
  br i1 %done, label %end, label %stopped

end:
  %result_slot = getelementptr %Repeat, ptr %call, i32 0, i32 $Repeat_result
  %result = load ptr, ptr %result_slot
  call void @Py_IncRef(ptr %result)
  call void @Py_DecRef(ptr %owner)
  ret ptr %result

stopped:
  %raised = icmp slt i32 %status, 0
  br i1 %raised, label %fail, label %give_up

fail:
  call void @Py_DecRef(ptr %owner)
  ret ptr null

give_up:
  call void @Py_DecRef(ptr %owner)
  br label %unknown

unknown:
  %slow_path = call ptr @PyTuple_GetItem(ptr %self, i64 1)
  %answer = call ptr @PyObject_Vectorcall(ptr %slow_path, ptr %arguments, i64 %count, ptr %names)
  ret ptr %answer
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; The known call that a call of these arguments is like, with its slots at %slots; null where there is none.
define internal ptr @find_call(ptr %table, ptr %arguments, i64 %count, ptr %names, ptr %slots) {
entry:
  %generation_slot = load ptr, ptr %table
  %generation = load i64, ptr %generation_slot
  %known_slot = getelementptr %Table, ptr %table, i32 0, i32 $Table_known
  %known = load i64, ptr %known_slot
  %calls_slot = getelementptr %Table, ptr %table, i32 0, i32 $Table_calls
  %calls = load ptr, ptr %calls_slot
  br label %next

next:
  %i = phi i64 [ 0, %entry ], [ %after, %try ]
  %some = icmp ult i64 %i, %known
  br i1 %some, label %try, label %unknown

try:
  %call_slot = getelementptr ptr, ptr %calls, i64 %i
  %call = load ptr, ptr %call_slot
  %fits = call i1 @is_call_again(ptr %call, i64 %generation, ptr %arguments, i64 %count, ptr %names, ptr %slots)
  %after = add i64 %i, 1
  br i1 %fits, label %found, label %next

found:
  ret ptr %call

unknown:
  ret ptr null
}

; Run a known call's kernel over a grid; what its target's function returns. The caller holds the call's owner.
define internal i32 @start(ptr %call, ptr %slots, ptr %extents, i64 %programs) {
  %slots_at = getelementptr %Repeat, ptr %call, i32 0, i32 $Repeat_slots
  %slot_count = load i64, ptr %slots_at
  %run_slot = getelementptr %Repeat, ptr %call, i32 0, i32 $Repeat_run
  %run = load ptr, ptr %run_slot
  %data_slot = getelementptr %Repeat, ptr %call, i32 0, i32 $Repeat_data
  %data = load ptr, ptr %data_slot
  %grid_slots = getelementptr i64, ptr %slots, i64 %slot_count
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %grid_slots, ptr align 8 %extents, i64 24, i1 false)
  %status = call i32 %run(ptr %data, ptr %slots, i64 %programs)
  ret i32 %status
}

; The extents that a grid function returns for the arguments and options by name: their product. 0 where it returns no
; plain tuple, or raises: the slow path asks again, and explains. Its caller holds what %call points to.
define internal i64 @ask_grid(ptr %call, ptr %arguments, ptr %extents) {
entry:
  %receiver = alloca ptr
  %by_position_slot = getelementptr %Repeat, ptr %call, i32 0, i32 $Repeat_by_position
  %by_position = load i64, ptr %by_position_slot
  %by_keyword_slot = getelementptr %Repeat, ptr %call, i32 0, i32 $Repeat_by_keyword
  %by_keyword = load i64, ptr %by_keyword_slot
  %count = add i64 %by_position, %by_keyword
  %names_slot = getelementptr %Repeat, ptr %call, i32 0, i32 $Repeat_names
  %names = load ptr, ptr %names_slot
  %everything_slot = getelementptr %Repeat, ptr %call, i32 0, i32 $Repeat_meta
  %everything = load ptr, ptr %everything_slot
  %function = load ptr, ptr %arguments
  %meta = call ptr @PyDict_Copy(ptr %everything)
  %none = icmp eq ptr %meta, null
  br i1 %none, label %raised, label %head

head:
  %i = phi i64 [ 0, %entry ], [ %next, %set ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %set, label %ask

set:
  %name_slot = getelementptr ptr, ptr %names, i64 %i
  %name = load ptr, ptr %name_slot
  %next = add i64 %i, 1
  %argument_slot = getelementptr ptr, ptr %arguments, i64 %next
  %argument = load ptr, ptr %argument_slot
  %failed = call i32 @PyDict_SetItem(ptr %meta, ptr %name, ptr %argument)
  %is_set = icmp eq i32 %failed, 0
  br i1 %is_set, label %head, label %drop

ask:
  store ptr %meta, ptr %receiver
  %grid = call ptr @PyObject_Vectorcall(ptr %function, ptr %receiver, i64 1, ptr null)
  %nothing = icmp eq ptr %grid, null
  br i1 %nothing, label %drop, label %read

read:
  %programs = call i64 @read_grid(ptr %grid, ptr %extents)
  call void @Py_DecRef(ptr %grid)
  call void @Py_DecRef(ptr %meta)
  ret i64 %programs

drop:
  call void @Py_DecRef(ptr %meta)
  br label %raised

raised:
  call void @PyErr_Clear()
  ret i64 0
}

; The extents of a grid that is a tuple of one to three positive integers below 2^21: their product; else 0.
define internal i64 @read_grid(ptr %grid, ptr %extents) {
entry:
  %overflow = alloca i32
  store i64 1, ptr %extents
  %second = getelementptr i64, ptr %extents, i64 1
  store i64 1, ptr %second
  %third = getelementptr i64, ptr %extents, i64 2
  store i64 1, ptr %third
  %kind_slot = getelementptr i8, ptr %grid, i64 8
  %kind = load ptr, ptr %kind_slot
  %is_tuple = icmp eq ptr %kind, @PyTuple_Type
  br i1 %is_tuple, label %measure, label %unusual

measure:
  %rank = call i64 @PyTuple_Size(ptr %grid)
  %beyond = sub i64 %rank, 1
  %fits = icmp ult i64 %beyond, 3
  br i1 %fits, label %head, label %unusual

head:
  %axis = phi i64 [ 0, %measure ], [ %next, %accept ]
  %product = phi i64 [ 1, %measure ], [ %larger, %accept ]
  %more = icmp ult i64 %axis, %rank
  br i1 %more, label %look, label %end

look:
  %extent = call ptr @PyTuple_GetItem(ptr %grid, i64 %axis)
  %extent_kind_slot = getelementptr i8, ptr %extent, i64 8
  %extent_kind = load ptr, ptr %extent_kind_slot
  %is_integer = icmp eq ptr %extent_kind, @PyLong_Type
  br i1 %is_integer, label %convert, label %unusual

convert:
  %value = call i64 @PyLong_AsLongLongAndOverflow(ptr %extent, ptr %overflow)
  %before = sub i64 %value, 1
  %small = icmp ult i64 %before, 2097151
  br i1 %small, label %accept, label %unusual

accept:
  %slot = getelementptr i64, ptr %extents, i64 %axis
  store i64 %value, ptr %slot
  %larger = mul i64 %product, %value
  %next = add i64 %axis, 1
  br label %head

end:
  ret i64 %product

unusual:
  ret i64 0
}

; Whether a call is like %call; its slots are then at %slots.
define internal i1 @is_call_again(ptr %call, i64 %generation, ptr %arguments, i64 %count, ptr %names, ptr %slots) {
entry:
  %made_at = load i64, ptr %call
  %is_current = icmp eq i64 %made_at, %generation
  br i1 %is_current, label %counts, label %differs

counts:
  %by_position_slot = getelementptr %Repeat, ptr %call, i32 0, i32 $Repeat_by_position
  %by_position = load i64, ptr %by_position_slot
  %by_keyword_slot = getelementptr %Repeat, ptr %call, i32 0, i32 $Repeat_by_keyword
  %by_keyword = load i64, ptr %by_keyword_slot
  %same_count = icmp eq i64 %count, %by_position
  br i1 %same_count, label %keywords, label %differs

keywords:
  %without = icmp eq ptr %names, null
  br i1 %without, label %count_keywords, label %size

size:
  %named = call i64 @PyTuple_Size(ptr %names)
  br label %count_keywords

count_keywords:
  %keyword_count = phi i64 [ 0, %keywords ], [ %named, %size ]
  %same_keywords = icmp eq i64 %keyword_count, %by_keyword
  br i1 %same_keywords, label %globals, label %differs

globals:
  %same_globals = call i1 @are_globals_unchanged(ptr %call)
  br i1 %same_globals, label %items, label %differs

items:
  %all = add i64 %by_position, %by_keyword
  %same_items = call i1 @are_items_again(ptr %call, ptr %arguments, i64 %by_position, i64 %all, ptr %names, ptr %slots)
  ret i1 %same_items

differs:
  ret i1 false
}

; Whether the first %all arguments, those after %by_position by keyword, are like those of %call, and overlap as all of its
; pointers did, which are among them; their values are then at %slots.
define internal i1 @are_items_again(ptr %call, ptr %arguments, i64 %by_position, i64 %all, ptr %names, ptr %slots) hot {
entry:
  %memory = alloca [$MOST_POINTERS x %Extent]
  %items_slot = getelementptr %Repeat, ptr %call, i32 0, i32 $Repeat_items
  %first_item = load ptr, ptr %items_slot
  br label %head

head:
  %i = phi i64 [ 0, %entry ], [ %next, %advance ]
  %pointers = phi i64 [ 0, %entry ], [ %pointers_after, %advance ]
  %more = icmp ult i64 %i, %all
  br i1 %more, label %look, label %compare

look:
  %item = getelementptr %Item, ptr %first_item, i64 %i
  %argument_slot = getelementptr ptr, ptr %arguments, i64 %i
  %argument = load ptr, ptr %argument_slot
  %is_named = icmp uge i64 %i, %by_position
  br i1 %is_named, label %check_name, label %check

check_name:
  %position = sub i64 %i, %by_position
  %name = call ptr @PyTuple_GetItem(ptr %names, i64 %position)
  %name_slot = getelementptr %Item, ptr %item, i32 0, i32 $Item_name
  %wanted_name = load ptr, ptr %name_slot
  %same_name = icmp eq ptr %name, %wanted_name
  br i1 %same_name, label %check, label %differs

check:
  %kind = load i64, ptr %item
  %is_memory = icmp uge i64 %kind, 4
  %extent = getelementptr %Extent, ptr %memory, i64 %pointers
  %value_slot = getelementptr %Item, ptr %item, i32 0, i32 $Item_slot
  %slot_number = load i64, ptr %value_slot
  %slot = getelementptr i64, ptr %slots, i64 %slot_number
  br i1 %is_memory, label %check_memory, label %check_value

check_memory:
  %may_share_slot = getelementptr %Item, ptr %item, i32 0, i32 $Item_sharing
  %may_share = load i64, ptr %may_share_slot
  %shared_slot = getelementptr %Extent, ptr %extent, i32 0, i32 3
  store i64 %may_share, ptr %shared_slot
  %memory_fits = call i1 @is_memory_again(ptr %item, ptr %argument, ptr %slot, ptr %extent)
  br i1 %memory_fits, label %note_address, label %differs

note_address:
  %address = load i64, ptr %slot
  %address_slot = getelementptr %Extent, ptr %extent, i32 0, i32 4
  store i64 %address, ptr %address_slot
  br label %advance

check_value:
  %value_fits = call i1 @is_value_again(ptr %item, ptr %argument, ptr %slot)
  br i1 %value_fits, label %advance, label %differs

advance:
  %one = zext i1 %is_memory to i64
  %pointers_after = add i64 %pointers, %one
  %next = add i64 %i, 1
  br label %head

compare:
  %disjoint_slot = getelementptr %Repeat, ptr %call, i32 0, i32 $Repeat_disjoint
  %was_disjoint = load i64, ptr %disjoint_slot
  %disjoint = call i1 @are_disjoint(ptr %memory, i64 %pointers)
  %is_disjoint = zext i1 %disjoint to i64
  %same_overlap = icmp eq i64 %is_disjoint, %was_disjoint
  ret i1 %same_overlap

differs:
  ret i1 false
}

define internal i1 @are_globals_unchanged(ptr %call) hot {
  %count_slot = getelementptr %Repeat, ptr %call, i32 0, i32 $Repeat_variable_count
  %count = load i64, ptr %count_slot
  %globals_slot = getelementptr %Repeat, ptr %call, i32 0, i32 $Repeat_variables
  %globals = load ptr, ptr %globals_slot
  %same = call i1 @are_unchanged(ptr %globals, i64 %count)
  ret i1 %same
}

define internal i1 @are_unchanged(ptr %globals, i64 %count) hot {
entry:
  br label %head

head:
  %i = phi i64 [ 0, %entry ], [ %next, %compare ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %unchanged

look:
  %global = getelementptr %Variable, ptr %globals, i64 %i
  %scope = load ptr, ptr %global
  %name_slot = getelementptr %Variable, ptr %global, i32 0, i32 $Variable_name
  %name = load ptr, ptr %name_slot
  %value_slot = getelementptr %Variable, ptr %global, i32 0, i32 $Variable_value
  %value = load ptr, ptr %value_slot
  %in_cell = icmp eq ptr %name, null
  br i1 %in_cell, label %cell, label %dictionary

cell:
  %content_slot = getelementptr i8, ptr %scope, i64 16
  %content = load ptr, ptr %content_slot
  br label %compare

dictionary:
  %found = call ptr @PyDict_GetItemWithError(ptr %scope, ptr %name)   ; texts, whose lookup raises nothing
  br label %compare

compare:
  %now = phi ptr [ %content, %cell ], [ %found, %dictionary ]
  %same = icmp eq ptr %now, %value
  %next = add i64 %i, 1
  br i1 %same, label %head, label %changed

unchanged:
  ret i1 true

changed:
  ret i1 false
}

; Whether no two of the extents overlap or are parts of allocations that are not known, but for two that may be shared,
; and whether those that must be at one address are.
define internal i1 @are_disjoint(ptr %memory, i64 %count) hot {
entry:
  br label %outer

outer:
  %i = phi i64 [ 0, %entry ], [ %next_i, %inner_end ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %first, label %apart

first:
  %one = getelementptr %Extent, ptr %memory, i64 %i
  %whole_slot = getelementptr %Extent, ptr %one, i32 0, i32 2
  %whole = load i64, ptr %whole_slot
  %share_slot = getelementptr %Extent, ptr %one, i32 0, i32 3
  %share = load i64, ptr %share_slot
  %address_slot = getelementptr %Extent, ptr %one, i32 0, i32 4
  %address = load i64, ptr %address_slot
  %one_low = load i64, ptr %one
  %one_high_slot = getelementptr %Extent, ptr %one, i32 0, i32 1
  %one_high = load i64, ptr %one_high_slot
  %next_i = add i64 %i, 1
  br label %inner

inner:
  %j = phi i64 [ %next_i, %first ], [ %next_j, %second ]
  %more_j = icmp ult i64 %j, %count
  br i1 %more_j, label %second, label %inner_end

second:
  %two = getelementptr %Extent, ptr %memory, i64 %j
  %two_low = load i64, ptr %two
  %two_high_slot = getelementptr %Extent, ptr %two, i32 0, i32 1
  %two_high = load i64, ptr %two_high_slot
  %before = icmp ule i64 %one_high, %two_low
  %behind = icmp ule i64 %two_high, %one_low
  %outside = or i1 %before, %behind
  %two_whole_slot = getelementptr %Extent, ptr %two, i32 0, i32 2
  %two_whole = load i64, ptr %two_whole_slot
  %wholes = or i64 %whole, %two_whole
  %known = icmp ne i64 %wholes, 0
  %apart_here = and i1 %outside, %known
  %two_share_slot = getelementptr %Extent, ptr %two, i32 0, i32 3
  %two_share = load i64, ptr %two_share_slot
  %two_address_slot = getelementptr %Extent, ptr %two, i32 0, i32 4
  %two_address = load i64, ptr %two_address_slot
  %shares = and i64 %share, %two_share
  %may_overlap = trunc i64 %shares to i1
  %allowed = or i1 %apart_here, %may_overlap
  %is_same = icmp eq i64 %address, %two_address
  %must_be_same = icmp ugt i64 %shares, 1
  %clear = select i1 %must_be_same, i1 %is_same, i1 %allowed
  %next_j = add i64 %j, 1
  br i1 %clear, label %inner, label %overlap

inner_end:
  br label %outer

apart:
  ret i1 true

overlap:
  ret i1 false
}

; Whether an argument that is no memory is like %item; its value is then at %slot, if it has one.
define internal i1 @is_value_again(ptr %item, ptr %argument, ptr %slot) hot {
entry:
  %overflow = alloca i32
  %kind = load i64, ptr %item
  %object_slot = getelementptr %Item, ptr %item, i32 0, i32 $Item_target
  %object = load ptr, ptr %object_slot
  %number_slot = getelementptr %Item, ptr %item, i32 0, i32 $Item_number
  %number = load i64, ptr %number_slot
  %is_object = icmp eq i64 %kind, 0
  br i1 %is_object, label %identity, label %class

identity:
  %same = icmp eq ptr %argument, %object
  ret i1 %same

class:
  %class_slot = getelementptr %Item, ptr %item, i32 0, i32 $Item_type
  %wanted = load ptr, ptr %class_slot
  %its_class_slot = getelementptr i8, ptr %argument, i64 8
  %its_class = load ptr, ptr %its_class_slot
  %same_class = icmp eq ptr %its_class, %wanted
  br i1 %same_class, label %which, label %differs

which:
  %is_float = icmp eq i64 %kind, 3
  br i1 %is_float, label %float, label %integer

float:
  %wide = call double @PyFloat_AsDouble(ptr %argument)
  %narrow = fptrunc double %wide to float
  %bits = bitcast float %narrow to i32
  %bits64 = zext i32 %bits to i64
  store i64 %bits64, ptr %slot
  ret i1 true

integer:
  %value = call i64 @PyLong_AsLongLongAndOverflow(ptr %argument, ptr %overflow)
  %outside = load i32, ptr %overflow
  %inside = icmp eq i32 %outside, 0
  br i1 %inside, label %constant_or_not, label %differs

constant_or_not:
  %is_constant = icmp eq i64 %kind, 1
  br i1 %is_constant, label %constant, label %classify

constant:
  %same_number = icmp eq i64 %value, %number
  ret i1 %same_number

classify:
  %finer_slot = getelementptr %Item, ptr %item, i32 0, i32 $Item_detail
  %finer = load i64, ptr %finer_slot
  %its_number = call i64 @class_of_integer(i64 %value, i64 %finer)
  %fits = icmp eq i64 %its_number, %number
  br i1 %fits, label %keep, label %differs

keep:
  %slot_number_slot = getelementptr %Item, ptr %item, i32 0, i32 $Item_slot
  %slot_number = load i64, ptr %slot_number_slot
  %has_slot = icmp sge i64 %slot_number, 0
  br i1 %has_slot, label %store, label %fine

store:
  store i64 %value, ptr %slot
  br label %fine

fine:
  ret i1 true

differs:
  ret i1 false
}

; As `Reader` numbers them: 1 the number 1, 2 a multiple of 16, 0 another of 32 bits; 4 a wider multiple of 16, 3 another.
define internal i64 @class_of_integer(i64 %value, i64 %finer) {
  %low = trunc i64 %value to i32
  %again = sext i32 %low to i64
  %narrow = icmp eq i64 %again, %value
  %knows_one_bit = and i64 %finer, 1
  %knows_one = icmp ne i64 %knows_one_bit, 0
  %knows_multiple_bit = and i64 %finer, 2
  %knows_multiple = icmp ne i64 %knows_multiple_bit, 0
  %rest = and i64 %value, 15
  %no_rest = icmp eq i64 %rest, 0
  %multiple = and i1 %no_rest, %knows_multiple
  %is_one = icmp eq i64 %value, 1
  %one = and i1 %is_one, %knows_one
  %narrow_multiple = select i1 %multiple, i64 2, i64 0
  %narrow_class = select i1 %one, i64 1, i64 %narrow_multiple
  %wide_class = select i1 %multiple, i64 4, i64 3
  %class = select i1 %narrow, i64 %narrow_class, i64 %wide_class
  ret i64 %class
}

; Whether an array or tensor is like %item; its address is then at %slot, and where its memory lies at %extent.
define internal i1 @is_memory_again(ptr %item, ptr %argument, ptr %slot, ptr %extent) hot {
entry:
  %class_slot = getelementptr %Item, ptr %item, i32 0, i32 $Item_type
  %wanted = load ptr, ptr %class_slot
  %its_class_slot = getelementptr i8, ptr %argument, i64 8
  %its_class = load ptr, ptr %its_class_slot
  %same_class = icmp eq ptr %its_class, %wanted
  br i1 %same_class, label %which, label %differs

which:
  %kind = load i64, ptr %item
  %is_array = icmp eq i64 %kind, 4
  br i1 %is_array, label %array, label %tensor

array:
  %array_fits = call i1 @read_array(ptr %item, ptr %argument, ptr %slot, ptr %extent)
  br i1 %array_fits, label %check, label %differs

tensor:
  %tensor_fits = call i1 @read_tensor(ptr %item, ptr %argument, ptr %slot, ptr %extent)
  br i1 %tensor_fits, label %check, label %differs

check:
  %address = load i64, ptr %slot
  %rest = and i64 %address, 15
  %no_rest = icmp eq i64 %rest, 0
  %is_aligned = zext i1 %no_rest to i64
  %aligned_slot = getelementptr %Item, ptr %item, i32 0, i32 $Item_number
  %was_aligned = load i64, ptr %aligned_slot
  %fits = icmp eq i64 %is_aligned, %was_aligned
  ret i1 %fits

differs:
  ret i1 false
}

; An array of the item's dtype, writable if the kernel stores to it. The memory is that of the array that owns it.
define internal i1 @read_array(ptr %item, ptr %argument, ptr %slot, ptr %extent) {
entry:
  %dtype_slot = getelementptr %Array, ptr %argument, i32 0, i32 $Array_dtype
  %dtype = load ptr, ptr %dtype_slot
  %wanted_slot = getelementptr %Item, ptr %item, i32 0, i32 $Item_target
  %wanted = load ptr, ptr %wanted_slot
  %same_dtype = icmp eq ptr %dtype, %wanted
  %flags_slot = getelementptr %Array, ptr %argument, i32 0, i32 $Array_flags
  %flags = load i32, ptr %flags_slot
  %writable_bit = and i32 %flags, 1024
  %writable = icmp ne i32 %writable_bit, 0
  %stored_slot = getelementptr %Item, ptr %item, i32 0, i32 $Item_detail
  %stored = load i64, ptr %stored_slot
  %read_only = icmp eq i64 %stored, 0
  %allowed = or i1 %writable, %read_only
  %usable = and i1 %same_dtype, %allowed
  br i1 %usable, label %address, label %differs

address:
  %data_slot = getelementptr %Array, ptr %argument, i32 0, i32 $Array_data
  %data = load i64, ptr %data_slot
  store i64 %data, ptr %slot
  %base_slot = getelementptr %Array, ptr %argument, i32 0, i32 $Array_base
  %base = load ptr, ptr %base_slot
  %owns = icmp eq ptr %base, null
  br i1 %owns, label %measure, label %check_strides

check_strides:                               ; of a view: whole elements
  %rank_slot = getelementptr %Array, ptr %argument, i32 0, i32 $Array_rank
  %rank = load i32, ptr %rank_slot
  %strides_slot = getelementptr %Array, ptr %argument, i32 0, i32 $Array_strides
  %strides = load ptr, ptr %strides_slot
  %size = call i64 @item_size(ptr %argument)
  br label %next_stride

next_stride:
  %axis = phi i32 [ 0, %check_strides ], [ %axis_after, %stride ]
  %more = icmp slt i32 %axis, %rank
  br i1 %more, label %stride, label %owner

stride:
  %axis64 = zext i32 %axis to i64
  %stride_slot = getelementptr i64, ptr %strides, i64 %axis64
  %stride_value = load i64, ptr %stride_slot
  %part = srem i64 %stride_value, %size
  %whole = icmp eq i64 %part, 0
  %axis_after = add i32 %axis, 1
  br i1 %whole, label %next_stride, label %differs

owner:
  %view = phi ptr [ %argument, %next_stride ], [ %under, %climb ]
  %under_slot = getelementptr %Array, ptr %view, i32 0, i32 $Array_base
  %under = load ptr, ptr %under_slot
  %ends = icmp eq ptr %under, null
  br i1 %ends, label %plain, label %climb_or_not

climb_or_not:
  %under_class_slot = getelementptr i8, ptr %under, i64 8
  %under_class = load ptr, ptr %under_class_slot
  %array_class = load ptr, ptr @array_class
  %is_array = icmp eq ptr %under_class, %array_class
  br i1 %is_array, label %climb, label %plain

climb:
  br label %owner

plain:                                       ; contiguous in C's or Fortran's order
  %owner_flags_slot = getelementptr %Array, ptr %view, i32 0, i32 $Array_flags
  %owner_flags = load i32, ptr %owner_flags_slot
  %order_bits = and i32 %owner_flags, 3
  %ordered = icmp ne i32 %order_bits, 0
  br i1 %ordered, label %measure, label %differs

measure:
  %measured = phi ptr [ %argument, %address ], [ %view, %plain ]
  %measured_flags = phi i32 [ %flags, %address ], [ %owner_flags, %plain ]
  %start_slot = getelementptr %Array, ptr %measured, i32 0, i32 $Array_data
  %start = load i64, ptr %start_slot
  %bytes = call i64 @array_bytes(ptr %measured)
  %end = add i64 %start, %bytes
  store i64 %start, ptr %extent
  %end_slot = getelementptr %Extent, ptr %extent, i32 0, i32 1
  store i64 %end, ptr %end_slot
  %owner_bit = lshr i32 %measured_flags, 2   ; NumPy's OWNDATA
  %is_owner = and i32 %owner_bit, 1
  %is_whole = zext i32 %is_owner to i64
  %whole_slot = getelementptr %Extent, ptr %extent, i32 0, i32 2
  store i64 %is_whole, ptr %whole_slot
  ret i1 true

differs:
  ret i1 false
}

define internal i64 @item_size(ptr %array) {
  %dtype_slot = getelementptr %Array, ptr %array, i32 0, i32 $Array_dtype
  %dtype = load ptr, ptr %dtype_slot
  %at = load i64, ptr @item_size_at
  %slot = getelementptr i8, ptr %dtype, i64 %at
  %size = load i32, ptr %slot
  %size64 = zext i32 %size to i64
  ret i64 %size64
}

; The number of elements times their size.
define internal i64 @array_bytes(ptr %array) {
entry:
  %size = call i64 @item_size(ptr %array)
  %rank_slot = getelementptr %Array, ptr %array, i32 0, i32 $Array_rank
  %rank = load i32, ptr %rank_slot
  %shape_slot = getelementptr %Array, ptr %array, i32 0, i32 $Array_shape
  %shape = load ptr, ptr %shape_slot
  br label %head

head:
  %axis = phi i32 [ 0, %entry ], [ %after, %multiply ]
  %bytes = phi i64 [ %size, %entry ], [ %product, %multiply ]
  %more = icmp slt i32 %axis, %rank
  br i1 %more, label %multiply, label %end

multiply:
  %axis64 = zext i32 %axis to i64
  %extent_slot = getelementptr i64, ptr %shape, i64 %axis64
  %extent = load i64, ptr %extent_slot
  %product = mul i64 %bytes, %extent
  %after = add i32 %axis, 1
  br label %head

end:
  ret i64 %bytes
}

; A tensor of the item's dtype on its device; the memory is that of its storage.
define internal i1 @read_tensor(ptr %item, ptr %argument, ptr %slot, ptr %extent) hot {
entry:
  %tensor_at = load i64, ptr @tensor_at
  %tensor_slot = getelementptr i8, ptr %argument, i64 %tensor_at
  %tensor = load ptr, ptr %tensor_slot
  %offset_at = load i64, ptr @offset_at
  %offset_slot = getelementptr i8, ptr %tensor, i64 %offset_at
  %facts_slot = getelementptr i8, ptr %offset_slot, i64 $FACTS_AFTER_OFFSET
  %facts = load i32, ptr %facts_slot
  %wanted_slot = getelementptr %Item, ptr %item, i32 0, i32 $Item_detail
  %wanted = load i64, ptr %wanted_slot
  %wanted_facts = trunc i64 %wanted to i32
  %same_facts = icmp eq i32 %facts, %wanted_facts
  br i1 %same_facts, label %check_storage, label %differs

check_storage:
  %storage_at = load i64, ptr @storage_at
  %storage_slot = getelementptr i8, ptr %tensor, i64 %storage_at
  %storage = load ptr, ptr %storage_slot
  %none = icmp eq ptr %storage, null
  br i1 %none, label %differs, label %look

look:
  %start_slot = getelementptr %Storage, ptr %storage, i32 0, i32 $Storage_data
  %start = load i64, ptr %start_slot
  %deleter_slot = getelementptr %Storage, ptr %storage, i32 0, i32 $Storage_deleter
  %deleter = load i64, ptr %deleter_slot
  %copies_later = load i64, ptr @copies_later
  %has_memory = icmp ne i64 %start, 0
  %is_plain = icmp ne i64 %deleter, %copies_later
  %usable = and i1 %has_memory, %is_plain
  br i1 %usable, label %read, label %differs

read:
  %context_slot = getelementptr %Storage, ptr %storage, i32 0, i32 $Storage_context
  %context = load i64, ptr %context_slot
  %bytes_slot = getelementptr %Storage, ptr %storage, i32 0, i32 $Storage_bytes
  %bytes = load i64, ptr %bytes_slot
  %end = add i64 %start, %bytes
  %frees_itself = icmp eq i64 %context, %start
  %is_whole = zext i1 %frees_itself to i64
  store i64 %start, ptr %extent
  %end_slot = getelementptr %Extent, ptr %extent, i32 0, i32 1
  store i64 %end, ptr %end_slot
  %whole_slot = getelementptr %Extent, ptr %extent, i32 0, i32 2
  store i64 %is_whole, ptr %whole_slot
  %offset = load i64, ptr %offset_slot
  %size = lshr i64 %wanted, 32
  %distance = mul i64 %offset, %size
  %address = add i64 %start, %distance
  store i64 %address, ptr %slot
  ret i1 true

differs:
  ret i1 false
}
