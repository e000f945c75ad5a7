module {
  func.func @integers(%arg0: i32, %arg1: i32) {
    %0 = arith.addi %arg0, %arg1 : i32
    %1 = arith.subi %arg0, %arg1 : i32
    %2 = arith.muli %arg0, %arg1 : i32
    %3 = arith.divui %arg0, %arg1 : i32
    %4 = arith.divsi %arg0, %arg1 : i32
    %5 = arith.ceildivui %arg0, %arg1 : i32
    %6 = arith.ceildivsi %arg0, %arg1 : i32
    %7 = arith.floordivsi %arg0, %arg1 : i32
    %8 = arith.remui %arg0, %arg1 : i32
    %9 = arith.remsi %arg0, %arg1 : i32
    %10 = arith.andi %arg0, %arg1 : i32
    %11 = arith.ori %arg0, %arg1 : i32
    %12 = arith.xori %arg0, %arg1 : i32
    %13 = arith.shli %arg0, %arg1 : i32
    %14 = arith.shrui %arg0, %arg1 : i32
    %15 = arith.shrsi %arg0, %arg1 : i32
    %16 = arith.maxsi %arg0, %arg1 : i32
    %17 = arith.minsi %arg0, %arg1 : i32
    %18 = arith.maxui %arg0, %arg1 : i32
    %19 = arith.minui %arg0, %arg1 : i32
    return
  }
}

// -----
module {
  func.func @integers(%arg0: index, %arg1: index) {
    %0 = arith.addi %arg0, %arg1 : index
    %1 = arith.subi %arg0, %arg1 : index
    %2 = arith.muli %arg0, %arg1 : index
    %3 = arith.divui %arg0, %arg1 : index
    %4 = arith.divsi %arg0, %arg1 : index
    %5 = arith.ceildivui %arg0, %arg1 : index
    %6 = arith.ceildivsi %arg0, %arg1 : index
    %7 = arith.floordivsi %arg0, %arg1 : index
    %8 = arith.remui %arg0, %arg1 : index
    %9 = arith.remsi %arg0, %arg1 : index
    %10 = arith.andi %arg0, %arg1 : index
    %11 = arith.ori %arg0, %arg1 : index
    %12 = arith.xori %arg0, %arg1 : index
    %13 = arith.shli %arg0, %arg1 : index
    %14 = arith.shrui %arg0, %arg1 : index
    %15 = arith.shrsi %arg0, %arg1 : index
    %16 = arith.maxsi %arg0, %arg1 : index
    %17 = arith.minsi %arg0, %arg1 : index
    %18 = arith.maxui %arg0, %arg1 : index
    %19 = arith.minui %arg0, %arg1 : index
    return
  }
}

// -----
module {
  func.func @integers(%arg0: vector<4xi8>, %arg1: vector<4xi8>) {
    %0 = arith.addi %arg0, %arg1 : vector<4xi8>
    %1 = arith.subi %arg0, %arg1 : vector<4xi8>
    %2 = arith.muli %arg0, %arg1 : vector<4xi8>
    %3 = arith.divui %arg0, %arg1 : vector<4xi8>
    %4 = arith.divsi %arg0, %arg1 : vector<4xi8>
    %5 = arith.ceildivui %arg0, %arg1 : vector<4xi8>
    %6 = arith.ceildivsi %arg0, %arg1 : vector<4xi8>
    %7 = arith.floordivsi %arg0, %arg1 : vector<4xi8>
    %8 = arith.remui %arg0, %arg1 : vector<4xi8>
    %9 = arith.remsi %arg0, %arg1 : vector<4xi8>
    %10 = arith.andi %arg0, %arg1 : vector<4xi8>
    %11 = arith.ori %arg0, %arg1 : vector<4xi8>
    %12 = arith.xori %arg0, %arg1 : vector<4xi8>
    %13 = arith.shli %arg0, %arg1 : vector<4xi8>
    %14 = arith.shrui %arg0, %arg1 : vector<4xi8>
    %15 = arith.shrsi %arg0, %arg1 : vector<4xi8>
    %16 = arith.maxsi %arg0, %arg1 : vector<4xi8>
    %17 = arith.minsi %arg0, %arg1 : vector<4xi8>
    %18 = arith.maxui %arg0, %arg1 : vector<4xi8>
    %19 = arith.minui %arg0, %arg1 : vector<4xi8>
    return
  }
}

// -----
module {
  func.func @integers(%arg0: tensor<4x?xi64>, %arg1: tensor<4x?xi64>) {
    %0 = arith.addi %arg0, %arg1 : tensor<4x?xi64>
    %1 = arith.subi %arg0, %arg1 : tensor<4x?xi64>
    %2 = arith.muli %arg0, %arg1 : tensor<4x?xi64>
    %3 = arith.divui %arg0, %arg1 : tensor<4x?xi64>
    %4 = arith.divsi %arg0, %arg1 : tensor<4x?xi64>
    %5 = arith.ceildivui %arg0, %arg1 : tensor<4x?xi64>
    %6 = arith.ceildivsi %arg0, %arg1 : tensor<4x?xi64>
    %7 = arith.floordivsi %arg0, %arg1 : tensor<4x?xi64>
    %8 = arith.remui %arg0, %arg1 : tensor<4x?xi64>
    %9 = arith.remsi %arg0, %arg1 : tensor<4x?xi64>
    %10 = arith.andi %arg0, %arg1 : tensor<4x?xi64>
    %11 = arith.ori %arg0, %arg1 : tensor<4x?xi64>
    %12 = arith.xori %arg0, %arg1 : tensor<4x?xi64>
    %13 = arith.shli %arg0, %arg1 : tensor<4x?xi64>
    %14 = arith.shrui %arg0, %arg1 : tensor<4x?xi64>
    %15 = arith.shrsi %arg0, %arg1 : tensor<4x?xi64>
    %16 = arith.maxsi %arg0, %arg1 : tensor<4x?xi64>
    %17 = arith.minsi %arg0, %arg1 : tensor<4x?xi64>
    %18 = arith.maxui %arg0, %arg1 : tensor<4x?xi64>
    %19 = arith.minui %arg0, %arg1 : tensor<4x?xi64>
    return
  }
}

// -----
module {
  func.func @integers(%arg0: i1, %arg1: i1) {
    %0 = arith.addi %arg0, %arg1 : i1
    %1 = arith.subi %arg0, %arg1 : i1
    %2 = arith.muli %arg0, %arg1 : i1
    %3 = arith.divui %arg0, %arg1 : i1
    %4 = arith.divsi %arg0, %arg1 : i1
    %5 = arith.ceildivui %arg0, %arg1 : i1
    %6 = arith.ceildivsi %arg0, %arg1 : i1
    %7 = arith.floordivsi %arg0, %arg1 : i1
    %8 = arith.remui %arg0, %arg1 : i1
    %9 = arith.remsi %arg0, %arg1 : i1
    %10 = arith.andi %arg0, %arg1 : i1
    %11 = arith.ori %arg0, %arg1 : i1
    %12 = arith.xori %arg0, %arg1 : i1
    %13 = arith.shli %arg0, %arg1 : i1
    %14 = arith.shrui %arg0, %arg1 : i1
    %15 = arith.shrsi %arg0, %arg1 : i1
    %16 = arith.maxsi %arg0, %arg1 : i1
    %17 = arith.minsi %arg0, %arg1 : i1
    %18 = arith.maxui %arg0, %arg1 : i1
    %19 = arith.minui %arg0, %arg1 : i1
    return
  }
}

// -----
module {
  func.func @integers(%arg0: tensor<8xi16>, %arg1: tensor<8xi16>) {
    %0 = arith.addi %arg0, %arg1 : tensor<8xi16>
    %1 = arith.subi %arg0, %arg1 : tensor<8xi16>
    %2 = arith.muli %arg0, %arg1 : tensor<8xi16>
    %3 = arith.divui %arg0, %arg1 : tensor<8xi16>
    %4 = arith.divsi %arg0, %arg1 : tensor<8xi16>
    %5 = arith.ceildivui %arg0, %arg1 : tensor<8xi16>
    %6 = arith.ceildivsi %arg0, %arg1 : tensor<8xi16>
    %7 = arith.floordivsi %arg0, %arg1 : tensor<8xi16>
    %8 = arith.remui %arg0, %arg1 : tensor<8xi16>
    %9 = arith.remsi %arg0, %arg1 : tensor<8xi16>
    %10 = arith.andi %arg0, %arg1 : tensor<8xi16>
    %11 = arith.ori %arg0, %arg1 : tensor<8xi16>
    %12 = arith.xori %arg0, %arg1 : tensor<8xi16>
    %13 = arith.shli %arg0, %arg1 : tensor<8xi16>
    %14 = arith.shrui %arg0, %arg1 : tensor<8xi16>
    %15 = arith.shrsi %arg0, %arg1 : tensor<8xi16>
    %16 = arith.maxsi %arg0, %arg1 : tensor<8xi16>
    %17 = arith.minsi %arg0, %arg1 : tensor<8xi16>
    %18 = arith.maxui %arg0, %arg1 : tensor<8xi16>
    %19 = arith.minui %arg0, %arg1 : tensor<8xi16>
    return
  }
}

// -----
module {
  func.func @integer_flags(%arg0: i32, %arg1: i32, %arg2: tensor<4xi32>) {
    %0 = arith.addi %arg0, %arg1 overflow<nsw> : i32
    %1 = arith.subi %arg0, %arg1 overflow<nuw> : i32
    %2 = arith.muli %arg2, %arg2 overflow<nsw, nuw> : tensor<4xi32>
    %3 = arith.shli %arg0, %arg1 overflow<nsw, nuw> {hint} : i32
    %4 = arith.divsi %arg0, %arg1 exact : i32
    %5 = arith.divui %arg0, %arg1 exact : i32
    %6 = arith.shrsi %arg2, %arg2 exact : tensor<4xi32>
    %7 = arith.shrui %arg0, %arg1 exact {tag = "x"} : i32
    %sum, %overflow = arith.addui_extended %arg0, %arg1 : i32, i1
    %sum_0, %overflow_1 = arith.addui_extended %arg2, %arg2 : tensor<4xi32>, tensor<4xi1>
    %low, %high = arith.mului_extended %arg0, %arg1 : i32
    %low_2, %high_3 = arith.mulsi_extended %arg2, %arg2 : tensor<4xi32>
    return
  }
}

// -----
module {
  func.func @floats(%arg0: f32, %arg1: f32) {
    %0 = arith.addf %arg0, %arg1 : f32
    %1 = arith.subf %arg0, %arg1 : f32
    %2 = arith.mulf %arg0, %arg1 : f32
    %3 = arith.divf %arg0, %arg1 : f32
    %4 = arith.remf %arg0, %arg1 : f32
    %5 = arith.maximumf %arg0, %arg1 : f32
    %6 = arith.minimumf %arg0, %arg1 : f32
    %7 = arith.maxnumf %arg0, %arg1 : f32
    %8 = arith.minnumf %arg0, %arg1 : f32
    %9 = arith.negf %arg0 : f32
    %10 = arith.addf %arg0, %arg1 fastmath<fast> : f32
    %11 = arith.mulf %arg0, %arg1 fastmath<reassoc,contract> {k} : f32
    %12 = arith.negf %arg0 fastmath<nnan> : f32
    return
  }
}

// -----
module {
  func.func @floats(%arg0: bf16, %arg1: bf16) {
    %0 = arith.addf %arg0, %arg1 : bf16
    %1 = arith.subf %arg0, %arg1 : bf16
    %2 = arith.mulf %arg0, %arg1 : bf16
    %3 = arith.divf %arg0, %arg1 : bf16
    %4 = arith.remf %arg0, %arg1 : bf16
    %5 = arith.maximumf %arg0, %arg1 : bf16
    %6 = arith.minimumf %arg0, %arg1 : bf16
    %7 = arith.maxnumf %arg0, %arg1 : bf16
    %8 = arith.minnumf %arg0, %arg1 : bf16
    %9 = arith.negf %arg0 : bf16
    %10 = arith.addf %arg0, %arg1 fastmath<fast> : bf16
    %11 = arith.mulf %arg0, %arg1 fastmath<reassoc,contract> {k} : bf16
    %12 = arith.negf %arg0 fastmath<nnan> : bf16
    return
  }
}

// -----
module {
  func.func @floats(%arg0: vector<8xf16>, %arg1: vector<8xf16>) {
    %0 = arith.addf %arg0, %arg1 : vector<8xf16>
    %1 = arith.subf %arg0, %arg1 : vector<8xf16>
    %2 = arith.mulf %arg0, %arg1 : vector<8xf16>
    %3 = arith.divf %arg0, %arg1 : vector<8xf16>
    %4 = arith.remf %arg0, %arg1 : vector<8xf16>
    %5 = arith.maximumf %arg0, %arg1 : vector<8xf16>
    %6 = arith.minimumf %arg0, %arg1 : vector<8xf16>
    %7 = arith.maxnumf %arg0, %arg1 : vector<8xf16>
    %8 = arith.minnumf %arg0, %arg1 : vector<8xf16>
    %9 = arith.negf %arg0 : vector<8xf16>
    %10 = arith.addf %arg0, %arg1 fastmath<fast> : vector<8xf16>
    %11 = arith.mulf %arg0, %arg1 fastmath<reassoc,contract> {k} : vector<8xf16>
    %12 = arith.negf %arg0 fastmath<nnan> : vector<8xf16>
    return
  }
}

// -----
module {
  func.func @floats(%arg0: tensor<4x8xf64>, %arg1: tensor<4x8xf64>) {
    %0 = arith.addf %arg0, %arg1 : tensor<4x8xf64>
    %1 = arith.subf %arg0, %arg1 : tensor<4x8xf64>
    %2 = arith.mulf %arg0, %arg1 : tensor<4x8xf64>
    %3 = arith.divf %arg0, %arg1 : tensor<4x8xf64>
    %4 = arith.remf %arg0, %arg1 : tensor<4x8xf64>
    %5 = arith.maximumf %arg0, %arg1 : tensor<4x8xf64>
    %6 = arith.minimumf %arg0, %arg1 : tensor<4x8xf64>
    %7 = arith.maxnumf %arg0, %arg1 : tensor<4x8xf64>
    %8 = arith.minnumf %arg0, %arg1 : tensor<4x8xf64>
    %9 = arith.negf %arg0 : tensor<4x8xf64>
    %10 = arith.addf %arg0, %arg1 fastmath<fast> : tensor<4x8xf64>
    %11 = arith.mulf %arg0, %arg1 fastmath<reassoc,contract> {k} : tensor<4x8xf64>
    %12 = arith.negf %arg0 fastmath<nnan> : tensor<4x8xf64>
    return
  }
}

// -----
module {
  func.func @floats(%arg0: f8E4M3FN, %arg1: f8E4M3FN) {
    %0 = arith.addf %arg0, %arg1 : f8E4M3FN
    %1 = arith.subf %arg0, %arg1 : f8E4M3FN
    %2 = arith.mulf %arg0, %arg1 : f8E4M3FN
    %3 = arith.divf %arg0, %arg1 : f8E4M3FN
    %4 = arith.remf %arg0, %arg1 : f8E4M3FN
    %5 = arith.maximumf %arg0, %arg1 : f8E4M3FN
    %6 = arith.minimumf %arg0, %arg1 : f8E4M3FN
    %7 = arith.maxnumf %arg0, %arg1 : f8E4M3FN
    %8 = arith.minnumf %arg0, %arg1 : f8E4M3FN
    %9 = arith.negf %arg0 : f8E4M3FN
    %10 = arith.addf %arg0, %arg1 fastmath<fast> : f8E4M3FN
    %11 = arith.mulf %arg0, %arg1 fastmath<reassoc,contract> {k} : f8E4M3FN
    %12 = arith.negf %arg0 fastmath<nnan> : f8E4M3FN
    return
  }
}

// -----
module {
  func.func @cmpi(%arg0: i32, %arg1: i32) {
    %0 = arith.cmpi eq, %arg0, %arg1 : i32
    %1 = arith.cmpi ne, %arg0, %arg1 : i32
    %2 = arith.cmpi slt, %arg0, %arg1 : i32
    %3 = arith.cmpi sle, %arg0, %arg1 : i32
    %4 = arith.cmpi sgt, %arg0, %arg1 : i32
    %5 = arith.cmpi sge, %arg0, %arg1 : i32
    %6 = arith.cmpi ult, %arg0, %arg1 : i32
    %7 = arith.cmpi ule, %arg0, %arg1 : i32
    %8 = arith.cmpi ugt, %arg0, %arg1 : i32
    %9 = arith.cmpi uge, %arg0, %arg1 : i32
    return
  }
}

// -----
module {
  func.func @cmpi(%arg0: index, %arg1: index) {
    %0 = arith.cmpi eq, %arg0, %arg1 : index
    %1 = arith.cmpi ne, %arg0, %arg1 : index
    %2 = arith.cmpi slt, %arg0, %arg1 : index
    %3 = arith.cmpi sle, %arg0, %arg1 : index
    %4 = arith.cmpi sgt, %arg0, %arg1 : index
    %5 = arith.cmpi sge, %arg0, %arg1 : index
    %6 = arith.cmpi ult, %arg0, %arg1 : index
    %7 = arith.cmpi ule, %arg0, %arg1 : index
    %8 = arith.cmpi ugt, %arg0, %arg1 : index
    %9 = arith.cmpi uge, %arg0, %arg1 : index
    return
  }
}

// -----
module {
  func.func @cmpi(%arg0: tensor<4x8xi64>, %arg1: tensor<4x8xi64>) {
    %0 = arith.cmpi eq, %arg0, %arg1 : tensor<4x8xi64>
    %1 = arith.cmpi ne, %arg0, %arg1 : tensor<4x8xi64>
    %2 = arith.cmpi slt, %arg0, %arg1 : tensor<4x8xi64>
    %3 = arith.cmpi sle, %arg0, %arg1 : tensor<4x8xi64>
    %4 = arith.cmpi sgt, %arg0, %arg1 : tensor<4x8xi64>
    %5 = arith.cmpi sge, %arg0, %arg1 : tensor<4x8xi64>
    %6 = arith.cmpi ult, %arg0, %arg1 : tensor<4x8xi64>
    %7 = arith.cmpi ule, %arg0, %arg1 : tensor<4x8xi64>
    %8 = arith.cmpi ugt, %arg0, %arg1 : tensor<4x8xi64>
    %9 = arith.cmpi uge, %arg0, %arg1 : tensor<4x8xi64>
    return
  }
}

// -----
module {
  func.func @cmpi(%arg0: vector<4xi1>, %arg1: vector<4xi1>) {
    %0 = arith.cmpi eq, %arg0, %arg1 : vector<4xi1>
    %1 = arith.cmpi ne, %arg0, %arg1 : vector<4xi1>
    %2 = arith.cmpi slt, %arg0, %arg1 : vector<4xi1>
    %3 = arith.cmpi sle, %arg0, %arg1 : vector<4xi1>
    %4 = arith.cmpi sgt, %arg0, %arg1 : vector<4xi1>
    %5 = arith.cmpi sge, %arg0, %arg1 : vector<4xi1>
    %6 = arith.cmpi ult, %arg0, %arg1 : vector<4xi1>
    %7 = arith.cmpi ule, %arg0, %arg1 : vector<4xi1>
    %8 = arith.cmpi ugt, %arg0, %arg1 : vector<4xi1>
    %9 = arith.cmpi uge, %arg0, %arg1 : vector<4xi1>
    return
  }
}

// -----
module {
  func.func @cmpf(%arg0: f32, %arg1: f32) {
    %0 = arith.cmpf false, %arg0, %arg1 : f32
    %1 = arith.cmpf oeq, %arg0, %arg1 : f32
    %2 = arith.cmpf ogt, %arg0, %arg1 : f32
    %3 = arith.cmpf oge, %arg0, %arg1 : f32
    %4 = arith.cmpf olt, %arg0, %arg1 : f32
    %5 = arith.cmpf ole, %arg0, %arg1 : f32
    %6 = arith.cmpf one, %arg0, %arg1 : f32
    %7 = arith.cmpf ord, %arg0, %arg1 : f32
    %8 = arith.cmpf ueq, %arg0, %arg1 : f32
    %9 = arith.cmpf ugt, %arg0, %arg1 : f32
    %10 = arith.cmpf uge, %arg0, %arg1 : f32
    %11 = arith.cmpf ult, %arg0, %arg1 : f32
    %12 = arith.cmpf ule, %arg0, %arg1 : f32
    %13 = arith.cmpf une, %arg0, %arg1 : f32
    %14 = arith.cmpf uno, %arg0, %arg1 : f32
    %15 = arith.cmpf true, %arg0, %arg1 : f32
    %16 = arith.cmpf olt, %arg0, %arg1 fastmath<nnan,ninf> : f32
    return
  }
}

// -----
module {
  func.func @cmpf(%arg0: tensor<4xbf16>, %arg1: tensor<4xbf16>) {
    %0 = arith.cmpf false, %arg0, %arg1 : tensor<4xbf16>
    %1 = arith.cmpf oeq, %arg0, %arg1 : tensor<4xbf16>
    %2 = arith.cmpf ogt, %arg0, %arg1 : tensor<4xbf16>
    %3 = arith.cmpf oge, %arg0, %arg1 : tensor<4xbf16>
    %4 = arith.cmpf olt, %arg0, %arg1 : tensor<4xbf16>
    %5 = arith.cmpf ole, %arg0, %arg1 : tensor<4xbf16>
    %6 = arith.cmpf one, %arg0, %arg1 : tensor<4xbf16>
    %7 = arith.cmpf ord, %arg0, %arg1 : tensor<4xbf16>
    %8 = arith.cmpf ueq, %arg0, %arg1 : tensor<4xbf16>
    %9 = arith.cmpf ugt, %arg0, %arg1 : tensor<4xbf16>
    %10 = arith.cmpf uge, %arg0, %arg1 : tensor<4xbf16>
    %11 = arith.cmpf ult, %arg0, %arg1 : tensor<4xbf16>
    %12 = arith.cmpf ule, %arg0, %arg1 : tensor<4xbf16>
    %13 = arith.cmpf une, %arg0, %arg1 : tensor<4xbf16>
    %14 = arith.cmpf uno, %arg0, %arg1 : tensor<4xbf16>
    %15 = arith.cmpf true, %arg0, %arg1 : tensor<4xbf16>
    %16 = arith.cmpf olt, %arg0, %arg1 fastmath<nnan,ninf> : tensor<4xbf16>
    return
  }
}

// -----
module {
  func.func @cmpf(%arg0: vector<4xf64>, %arg1: vector<4xf64>) {
    %0 = arith.cmpf false, %arg0, %arg1 : vector<4xf64>
    %1 = arith.cmpf oeq, %arg0, %arg1 : vector<4xf64>
    %2 = arith.cmpf ogt, %arg0, %arg1 : vector<4xf64>
    %3 = arith.cmpf oge, %arg0, %arg1 : vector<4xf64>
    %4 = arith.cmpf olt, %arg0, %arg1 : vector<4xf64>
    %5 = arith.cmpf ole, %arg0, %arg1 : vector<4xf64>
    %6 = arith.cmpf one, %arg0, %arg1 : vector<4xf64>
    %7 = arith.cmpf ord, %arg0, %arg1 : vector<4xf64>
    %8 = arith.cmpf ueq, %arg0, %arg1 : vector<4xf64>
    %9 = arith.cmpf ugt, %arg0, %arg1 : vector<4xf64>
    %10 = arith.cmpf uge, %arg0, %arg1 : vector<4xf64>
    %11 = arith.cmpf ult, %arg0, %arg1 : vector<4xf64>
    %12 = arith.cmpf ule, %arg0, %arg1 : vector<4xf64>
    %13 = arith.cmpf une, %arg0, %arg1 : vector<4xf64>
    %14 = arith.cmpf uno, %arg0, %arg1 : vector<4xf64>
    %15 = arith.cmpf true, %arg0, %arg1 : vector<4xf64>
    %16 = arith.cmpf olt, %arg0, %arg1 fastmath<nnan,ninf> : vector<4xf64>
    return
  }
}

// -----
module {
  func.func @select(%arg0: i1, %arg1: i32, %arg2: tensor<4xi1>, %arg3: tensor<4xf32>, %arg4: vector<4xi1>, %arg5: vector<4xf16>, %arg6: memref<4xf32>) {
    %0 = arith.select %arg0, %arg1, %arg1 : i32
    %1 = arith.select %arg2, %arg3, %arg3 : tensor<4xi1>, tensor<4xf32>
    %2 = arith.select %arg0, %arg3, %arg3 : tensor<4xf32>
    %3 = arith.select %arg4, %arg5, %arg5 : vector<4xi1>, vector<4xf16>
    %4 = arith.select %arg0, %arg6, %arg6 : memref<4xf32>
    %5 = arith.select %arg2, %arg2, %arg2 {a = 1 : i32} : tensor<4xi1>, tensor<4xi1>
    return
  }
}

// -----
module {
  func.func @casts(%arg0: i8, %arg1: i64, %arg2: index, %arg3: f32, %arg4: f16, %arg5: f64, %arg6: tensor<4xi8>, %arg7: tensor<4xf32>, %arg8: vector<4xindex>, %arg9: vector<4xi32>, %arg10: tensor<?xindex>) {
    %0 = arith.extsi %arg0 : i8 to i32
    %1 = arith.extui %arg6 : tensor<4xi8> to tensor<4xi32>
    %2 = arith.trunci %arg1 : i64 to i32
    %3 = arith.trunci %arg1 overflow<nsw, nuw> : i64 to i8
    %4 = arith.trunci %arg9 : vector<4xi32> to vector<4xi1>
    %5 = arith.extf %arg4 : f16 to f32
    %6 = arith.extf %arg4 fastmath<contract> : f16 to f64
    %7 = arith.truncf %arg3 : f32 to bf16
    %8 = arith.truncf %arg3 to_nearest_even : f32 to f16
    %9 = arith.truncf %arg7 toward_zero : tensor<4xf32> to tensor<4xf16>
    %10 = arith.truncf %arg5 downward fastmath<fast> : f64 to f32
    %11 = arith.truncf %arg5 upward : f64 to f32
    %12 = arith.truncf %arg5 to_nearest_away : f64 to f32
    %13 = arith.sitofp %arg0 : i8 to f32
    %14 = arith.sitofp %arg6 : tensor<4xi8> to tensor<4xbf16>
    %15 = arith.uitofp %arg9 : vector<4xi32> to vector<4xf64>
    %16 = arith.fptosi %arg7 : tensor<4xf32> to tensor<4xi32>
    %17 = arith.fptoui %arg3 : f32 to i8
    %18 = arith.index_cast %arg2 : index to i32
    %19 = arith.index_cast %arg9 : vector<4xi32> to vector<4xindex>
    %20 = arith.index_castui %arg1 : i64 to index
    %21 = arith.index_castui %arg10 : tensor<?xindex> to tensor<?xi32>
    %22 = arith.bitcast %arg3 : f32 to i32
    %23 = arith.bitcast %arg7 : tensor<4xf32> to tensor<4xi32>
    return
  }
}

// -----
module {
  func.func @constants() {
    %c0 = arith.constant 0 : index
    %c-5_i32 = arith.constant -5 : i32
    %true = arith.constant true
    %false = arith.constant false
    %cst = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 0x7FC00000 : f32
    %cst_2 = arith.constant 0xFF80 : bf16
    %cst_3 = arith.constant 0x7C00 : f16
    %cst_4 = arith.constant dense<0xFF800000> : tensor<4xf32>
    %cst_5 = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
    %cst_6 = arith.constant dense<true> : vector<4xi1>
    %cst_7 = arith.constant dense<[[1.000000e+00, 2.500000e+00], [-0.000000e+00, 1.000000e+10]]> : tensor<2x2xf64>
    %cst_8 = arith.constant {tag} 3.400000e+38 : f32
    %cst_9 = arith.constant 1.000400e-03 : f16
    %cst_10 = arith.constant dense<[0, 1, 2, 3]> : vector<4xindex>
    %cst_11 = arith.constant 2.500000e+00 : f8E4M3FN
    return
  }
}
