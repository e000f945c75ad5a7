; One place in a program that launches one kernel over one grid: `site(*arguments)`, the further arguments and the grid being
; the same each time. Code that PyTorch's compiler writes launches kernels of static shapes so (`runtime/launch_sites.py`).

@site_name = private constant [5 x i8] c"site\00"
@site_doc = private constant [34 x i8] c"site(*arguments): launches kernel\00"
@tilewright_site_method = global %MethodDef { ptr @site_name, ptr @tilewright_site, i32 128, ptr @site_doc }

@_Py_NoneStruct = external global i8

; site(*arguments). %self is a tuple: address of the %Site, function for calls that are not known.
define ptr @tilewright_site(ptr %self, ptr %arguments, i64 %count) {
entry:
  %slots = alloca [$MOST_WORDS x i64], align 64
  %all = alloca [$MOST_WITH_GRID x ptr], align 64
  %address_object = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %address = call i64 @PyLong_AsLongLong(ptr %address_object)
  %site = inttoptr i64 %address to ptr
  %table = load ptr, ptr %site
  %is_new = icmp eq ptr %table, null
  br i1 %is_new, label %unknown, label %counts

counts:
  %given_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_given
  %given = load i64, ptr %given_slot
  %more_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_further
  %more = load i64, ptr %more_slot
  %sum = add i64 %given, %more
  %same_count = icmp eq i64 %count, %given
  %has_room = icmp ult i64 %sum, $MOST_WITH_GRID
  %usual = and i1 %same_count, %has_room
  br i1 %usual, label %hooks, label %unknown

hooks:
  %before_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_hooks_before
  %before = load ptr, ptr %before_slot
  %after_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_hooks_after
  %after = load ptr, ptr %after_slot
  %before_count = call i64 @PyList_Size(ptr %before)
  %after_count = call i64 @PyList_Size(ptr %after)
  %hook_count = or i64 %before_count, %after_count
  %unwatched = icmp eq i64 %hook_count, 0
  br i1 %unwatched, label %globals, label %unknown

globals:
  %global_count_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_variable_count
  %global_count = load i64, ptr %global_count_slot
  %variables_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_variables
  %variables = load ptr, ptr %variables_slot
  %unchanged = call i1 @are_unchanged(ptr %variables, i64 %global_count)
  br i1 %unchanged, label %gather, label %unknown

gather:                                      ; the first place is the grid's, which nobody reads
  %constants_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_constants
  %constants = load ptr, ptr %constants_slot
  %first = getelementptr ptr, ptr %all, i64 1
  %given_bytes = shl i64 %given, 3
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %first, ptr align 8 %arguments, i64 %given_bytes, i1 false)
  %rest = getelementptr ptr, ptr %first, i64 %given
  %more_bytes = shl i64 %more, 3
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %rest, ptr align 8 %constants, i64 %more_bytes, i1 false)
  %with_grid = add i64 %sum, 1
  %call = call ptr @find_call(ptr %table, ptr %all, i64 %with_grid, ptr null, ptr %slots)
  %none = icmp eq ptr %call, null
  br i1 %none, label %unknown, label %found

found:
  %owner_slot = getelementptr %Repeat, ptr %call, i32 0, i32 $Repeat_owner
  %owner = load ptr, ptr %owner_slot
  call void @Py_IncRef(ptr %owner)
  %programs_slot = getelementptr %Site, ptr %site, i32 0, i32 $Site_programs
  %programs = load i64, ptr %programs_slot
  %extents = getelementptr %Site, ptr %site, i32 0, i32 $Site_x
  %status = call i32 @start(ptr %call, ptr %slots, ptr %extents, i64 %programs)
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
