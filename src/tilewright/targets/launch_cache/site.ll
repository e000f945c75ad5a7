; One place in a program that launches one kernel over one grid: `site(*arguments)`, the further arguments and the grid being
; the same each time. Code that PyTorch's compiler writes launches kernels of static shapes so (`runtime/launch_sites.py`).
;
; What it costs amid matmuls, which leave nothing in the caches, is the cache lines that it reads, of code as of data: so
; a site keeps the slots of its last call, into which it writes addresses, and compares the given arguments alone.

@site_name = private constant [5 x i8] c"site\00"
@site_doc = private constant [34 x i8] c"site(*arguments): launches kernel\00"
@tilewright_site_method = global %MethodDef { ptr @site_name, ptr @tilewright_site, i32 128, ptr @site_doc }

@is_watched = internal global i1 false      ; whether somebody wants to see launches, as the last site that leads has found
@_Py_NoneStruct = external global i8

; site(*arguments). %self is a tuple: address of the %Site, function for calls that are not known.
define ptr @tilewright_site(ptr %self, ptr %arguments, i64 %count) hot {
entry:
  %slots = alloca [$MOST_WORDS x i64], align 64
  %address_object = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %address = call i64 @PyLong_AsSsize_t(ptr %address_object)
  %site = inttoptr i64 %address to ptr
  %table = load ptr, ptr %site
  %is_new = icmp eq ptr %table, null
  br i1 %is_new, label %unknown, label %counts

counts:
  %given_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_given
  %given = load i64, ptr %given_slot
  %same_count = icmp eq i64 %count, %given
  br i1 %same_count, label %watched, label %unknown

watched:
  %follows_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_follows
  %follows = load i64, ptr %follows_slot
  %leads = icmp eq i64 %follows, 0
  br i1 %leads, label %look, label %known_watch

look:
  %seen = call i1 @look_around(ptr %site)
  store i1 %seen, ptr @is_watched
  br label %known_watch

known_watch:
  %is_watched = load i1, ptr @is_watched
  br i1 %is_watched, label %unknown, label %known

known:                                        ; the last call of the site, as long as the table has it
  %last_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_last
  %last = load ptr, ptr %last_slot
  %its_clearings_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_clearings
  %its_clearings = load i64, ptr %its_clearings_slot
  %clearings_slot = getelementptr %Table, ptr %table, i32 0, i32 $Table_clearings
  %clearings = load i64, ptr %clearings_slot
  %is_there = icmp eq i64 %its_clearings, %clearings
  %has_last = icmp ne ptr %last, null
  %is_last = and i1 %has_last, %is_there
  br i1 %is_last, label %current, label %search

current:
  %generation_slot = load ptr, ptr %table
  %generation = load i64, ptr %generation_slot
  %made_at = load i64, ptr %last
  %is_current = icmp eq i64 %made_at, %generation
  br i1 %is_current, label %globals, label %search

globals:
  %same_globals = call i1 @are_globals_unchanged(ptr %last)
  br i1 %same_globals, label %slot_count, label %search

slot_count:
  %own_count_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_words
  %words = load i64, ptr %own_count_slot
  %own = getelementptr %Site, ptr %site, i32 0, i32 $Site_slots
  br label %copy

copy:
  %i = phi i64 [ 0, %slot_count ], [ %after, %copy ]
  %from = getelementptr i64, ptr %own, i64 %i
  %word = load i64, ptr %from
  %to = getelementptr i64, ptr %slots, i64 %i
  store i64 %word, ptr %to
  %after = add i64 %i, 1
  %more = icmp ult i64 %after, %words
  br i1 %more, label %copy, label %compare

compare:
  %fits = call i1 @are_items_again(ptr %last, ptr %arguments, i64 %given, i64 %given, ptr null, ptr %slots)
  br i1 %fits, label %found, label %search

search:
  %other = call ptr @search_site(ptr %site, ptr %arguments, ptr %slots)
  %none = icmp eq ptr %other, null
  br i1 %none, label %unknown, label %found

found:
  %call = phi ptr [ %last, %compare ], [ %other, %search ]
  %owner_slot = getelementptr %Repeat, ptr %call, i32 0, i32 $Repeat_owner
  %owner = load ptr, ptr %owner_slot
  call void @Py_IncRef(ptr %owner)
  %programs_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_programs
  %programs = load i64, ptr %programs_slot
  %run_slot = getelementptr %Repeat, ptr %call, i32 0, i32 $Repeat_run
  %run = load ptr, ptr %run_slot
  %data_slot = getelementptr %Repeat, ptr %call, i32 0, i32 $Repeat_data
  %data = load ptr, ptr %data_slot
  %status = call i32 %run(ptr %data, ptr %slots, i64 %programs)
  call void @Py_DecRef(ptr %owner)
  %done = icmp eq i32 %status, 0
  br i1 %done, label %end, label %stopped

end:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct

stopped:
  %raised = icmp slt i32 %status, 0
  br i1 %raised, label %fail, label %unknown

fail:
  ret ptr null

unknown:
  %slow_path = call ptr @PyTuple_GetItem(ptr %self, i64 1)
  %answer = call ptr @PyObject_Vectorcall(ptr %slow_path, ptr %arguments, i64 %count, ptr null)
  ret ptr %answer
}

; Whether somebody wants to see launches: there are hooks, or a variable is not as it was.
define internal i1 @look_around(ptr %site) hot {
  %before_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_hooks_before
  %before = load ptr, ptr %before_slot
  %after_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_hooks_after
  %after = load ptr, ptr %after_slot
  %before_count = call i64 @PyList_Size(ptr %before)
  %after_count = call i64 @PyList_Size(ptr %after)
  %hook_count = or i64 %before_count, %after_count
  %has_hooks = icmp ne i64 %hook_count, 0
  %count_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_variable_count
  %count = load i64, ptr %count_slot
  %variables_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_variables
  %variables = load ptr, ptr %variables_slot
  %unchanged = call i1 @are_unchanged(ptr %variables, i64 %count)
  %changed = xor i1 %unchanged, true
  %watched = or i1 %has_hooks, %changed
  ret i1 %watched
}

; The known call that a call of the site is like, with its slots and the grid's extents at %slots, and from now on in the
; site; null where there is none.
define internal ptr @search_site(ptr %site, ptr %arguments, ptr %slots) {
entry:
  %all = alloca [$MOST_ARGUMENTS x ptr], align 64
  %table = load ptr, ptr %site
  %given_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_given
  %given = load i64, ptr %given_slot
  %more_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_further
  %more = load i64, ptr %more_slot
  %constants_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_constants
  %constants = load ptr, ptr %constants_slot
  %given_bytes = shl i64 %given, 3
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %all, ptr align 8 %arguments, i64 %given_bytes, i1 false)
  %rest = getelementptr ptr, ptr %all, i64 %given
  %more_bytes = shl i64 %more, 3
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %rest, ptr align 8 %constants, i64 %more_bytes, i1 false)
  %count = add i64 %given, %more
  %call = call ptr @find_call(ptr %table, ptr %all, i64 %count, ptr null, ptr %slots)
  %none = icmp eq ptr %call, null
  br i1 %none, label %unknown, label %keep

keep:
  %slots_at = getelementptr %Repeat, ptr %call, i32 0, i32 $Repeat_slots
  %slot_count = load i64, ptr %slots_at
  %grid = getelementptr i64, ptr %slots, i64 %slot_count
  %extents = getelementptr %Site, ptr %site, i32 0, i32 $Site_x
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %grid, ptr align 8 %extents, i64 24, i1 false)
  %words = add i64 %slot_count, 3
  %words_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_words
  store i64 %words, ptr %words_slot
  %own = getelementptr %Site, ptr %site, i32 0, i32 $Site_slots
  %bytes = shl i64 %words, 3
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %own, ptr align 8 %slots, i64 %bytes, i1 false)
  %clearings_slot = getelementptr %Table, ptr %table, i32 0, i32 $Table_clearings
  %clearings = load i64, ptr %clearings_slot
  %its_clearings_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_clearings
  store i64 %clearings, ptr %its_clearings_slot
  %last_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_last
  store ptr %call, ptr %last_slot
  ret ptr %call

unknown:
  ret ptr null
}
