module {
  func.func @unary(%arg0: f32) {
    %0 = math.absf %arg0 : f32
    %1 = math.acos %arg0 : f32
    %2 = math.acosh %arg0 : f32
    %3 = math.asin %arg0 : f32
    %4 = math.asinh %arg0 : f32
    %5 = math.atan %arg0 : f32
    %6 = math.atanh %arg0 : f32
    %7 = math.cbrt %arg0 : f32
    %8 = math.ceil %arg0 : f32
    %9 = math.cos %arg0 : f32
    %10 = math.cosh %arg0 : f32
    %11 = math.erf %arg0 : f32
    %12 = math.erfc %arg0 : f32
    %13 = math.exp %arg0 : f32
    %14 = math.exp2 %arg0 : f32
    %15 = math.expm1 %arg0 : f32
    %16 = math.floor %arg0 : f32
    %17 = math.log %arg0 : f32
    %18 = math.log10 %arg0 : f32
    %19 = math.log1p %arg0 : f32
    %20 = math.log2 %arg0 : f32
    %21 = math.round %arg0 : f32
    %22 = math.roundeven %arg0 : f32
    %23 = math.rsqrt %arg0 : f32
    %24 = math.sin %arg0 : f32
    %25 = math.sinh %arg0 : f32
    %26 = math.sqrt %arg0 : f32
    %27 = math.tan %arg0 : f32
    %28 = math.tanh %arg0 : f32
    %29 = math.trunc %arg0 : f32
    %30 = math.exp %arg0 fastmath<afn> : f32
    %31 = math.isnan %arg0 : f32
    %32 = math.isinf %arg0 : f32
    %33 = math.isfinite %arg0 : f32
    %34 = math.isnormal %arg0 : f32
    return
  }
}

// -----
module {
  func.func @unary(%arg0: vector<4xf16>) {
    %0 = math.absf %arg0 : vector<4xf16>
    %1 = math.acos %arg0 : vector<4xf16>
    %2 = math.acosh %arg0 : vector<4xf16>
    %3 = math.asin %arg0 : vector<4xf16>
    %4 = math.asinh %arg0 : vector<4xf16>
    %5 = math.atan %arg0 : vector<4xf16>
    %6 = math.atanh %arg0 : vector<4xf16>
    %7 = math.cbrt %arg0 : vector<4xf16>
    %8 = math.ceil %arg0 : vector<4xf16>
    %9 = math.cos %arg0 : vector<4xf16>
    %10 = math.cosh %arg0 : vector<4xf16>
    %11 = math.erf %arg0 : vector<4xf16>
    %12 = math.erfc %arg0 : vector<4xf16>
    %13 = math.exp %arg0 : vector<4xf16>
    %14 = math.exp2 %arg0 : vector<4xf16>
    %15 = math.expm1 %arg0 : vector<4xf16>
    %16 = math.floor %arg0 : vector<4xf16>
    %17 = math.log %arg0 : vector<4xf16>
    %18 = math.log10 %arg0 : vector<4xf16>
    %19 = math.log1p %arg0 : vector<4xf16>
    %20 = math.log2 %arg0 : vector<4xf16>
    %21 = math.round %arg0 : vector<4xf16>
    %22 = math.roundeven %arg0 : vector<4xf16>
    %23 = math.rsqrt %arg0 : vector<4xf16>
    %24 = math.sin %arg0 : vector<4xf16>
    %25 = math.sinh %arg0 : vector<4xf16>
    %26 = math.sqrt %arg0 : vector<4xf16>
    %27 = math.tan %arg0 : vector<4xf16>
    %28 = math.tanh %arg0 : vector<4xf16>
    %29 = math.trunc %arg0 : vector<4xf16>
    %30 = math.exp %arg0 fastmath<afn> : vector<4xf16>
    %31 = math.isnan %arg0 : vector<4xf16>
    %32 = math.isinf %arg0 : vector<4xf16>
    %33 = math.isfinite %arg0 : vector<4xf16>
    %34 = math.isnormal %arg0 : vector<4xf16>
    return
  }
}

// -----
module {
  func.func @unary(%arg0: tensor<4xbf16>) {
    %0 = math.absf %arg0 : tensor<4xbf16>
    %1 = math.acos %arg0 : tensor<4xbf16>
    %2 = math.acosh %arg0 : tensor<4xbf16>
    %3 = math.asin %arg0 : tensor<4xbf16>
    %4 = math.asinh %arg0 : tensor<4xbf16>
    %5 = math.atan %arg0 : tensor<4xbf16>
    %6 = math.atanh %arg0 : tensor<4xbf16>
    %7 = math.cbrt %arg0 : tensor<4xbf16>
    %8 = math.ceil %arg0 : tensor<4xbf16>
    %9 = math.cos %arg0 : tensor<4xbf16>
    %10 = math.cosh %arg0 : tensor<4xbf16>
    %11 = math.erf %arg0 : tensor<4xbf16>
    %12 = math.erfc %arg0 : tensor<4xbf16>
    %13 = math.exp %arg0 : tensor<4xbf16>
    %14 = math.exp2 %arg0 : tensor<4xbf16>
    %15 = math.expm1 %arg0 : tensor<4xbf16>
    %16 = math.floor %arg0 : tensor<4xbf16>
    %17 = math.log %arg0 : tensor<4xbf16>
    %18 = math.log10 %arg0 : tensor<4xbf16>
    %19 = math.log1p %arg0 : tensor<4xbf16>
    %20 = math.log2 %arg0 : tensor<4xbf16>
    %21 = math.round %arg0 : tensor<4xbf16>
    %22 = math.roundeven %arg0 : tensor<4xbf16>
    %23 = math.rsqrt %arg0 : tensor<4xbf16>
    %24 = math.sin %arg0 : tensor<4xbf16>
    %25 = math.sinh %arg0 : tensor<4xbf16>
    %26 = math.sqrt %arg0 : tensor<4xbf16>
    %27 = math.tan %arg0 : tensor<4xbf16>
    %28 = math.tanh %arg0 : tensor<4xbf16>
    %29 = math.trunc %arg0 : tensor<4xbf16>
    %30 = math.exp %arg0 fastmath<afn> : tensor<4xbf16>
    %31 = math.isnan %arg0 : tensor<4xbf16>
    %32 = math.isinf %arg0 : tensor<4xbf16>
    %33 = math.isfinite %arg0 : tensor<4xbf16>
    %34 = math.isnormal %arg0 : tensor<4xbf16>
    return
  }
}

// -----
module {
  func.func @integer(%arg0: i32) {
    %0 = math.absi %arg0 : i32
    %1 = math.ctpop %arg0 : i32
    %2 = math.ctlz %arg0 : i32
    %3 = math.cttz %arg0 : i32
    return
  }
}

// -----
module {
  func.func @integer(%arg0: index) {
    %0 = math.absi %arg0 : index
    %1 = math.ctpop %arg0 : index
    %2 = math.ctlz %arg0 : index
    %3 = math.cttz %arg0 : index
    return
  }
}

// -----
module {
  func.func @integer(%arg0: tensor<4xi64>) {
    %0 = math.absi %arg0 : tensor<4xi64>
    %1 = math.ctpop %arg0 : tensor<4xi64>
    %2 = math.ctlz %arg0 : tensor<4xi64>
    %3 = math.cttz %arg0 : tensor<4xi64>
    return
  }
}

// -----
module {
  func.func @integer(%arg0: vector<4xi8>) {
    %0 = math.absi %arg0 : vector<4xi8>
    %1 = math.ctpop %arg0 : vector<4xi8>
    %2 = math.ctlz %arg0 : vector<4xi8>
    %3 = math.cttz %arg0 : vector<4xi8>
    return
  }
}

// -----
module {
  func.func @several(%arg0: f32, %arg1: i32) {
    %0 = math.atan2 %arg0, %arg0 : f32
    %1 = math.copysign %arg0, %arg0 : f32
    %2 = math.powf %arg0, %arg0 fastmath<fast> : f32
    %3 = math.fma %arg0, %arg0, %arg0 : f32
    %4 = math.clampf %arg0 to [%arg0, %arg0] : f32
    %5 = math.ipowi %arg1, %arg1 : i32
    %6 = math.fpowi %arg0, %arg1 : f32, i32
    %7 = math.fma %arg0, %arg0, %arg0 fastmath<contract> {k} : f32
    return
  }
}

// -----
module {
  func.func @several(%arg0: tensor<4xf64>, %arg1: tensor<4xi32>) {
    %0 = math.atan2 %arg0, %arg0 : tensor<4xf64>
    %1 = math.copysign %arg0, %arg0 : tensor<4xf64>
    %2 = math.powf %arg0, %arg0 fastmath<fast> : tensor<4xf64>
    %3 = math.fma %arg0, %arg0, %arg0 : tensor<4xf64>
    %4 = math.clampf %arg0 to [%arg0, %arg0] : tensor<4xf64>
    %5 = math.ipowi %arg1, %arg1 : tensor<4xi32>
    %6 = math.fpowi %arg0, %arg1 : tensor<4xf64>, tensor<4xi32>
    %7 = math.fma %arg0, %arg0, %arg0 fastmath<contract> {k} : tensor<4xf64>
    return
  }
}

// -----
module {
  func.func @several(%arg0: vector<4xf16>, %arg1: vector<4xi16>) {
    %0 = math.atan2 %arg0, %arg0 : vector<4xf16>
    %1 = math.copysign %arg0, %arg0 : vector<4xf16>
    %2 = math.powf %arg0, %arg0 fastmath<fast> : vector<4xf16>
    %3 = math.fma %arg0, %arg0, %arg0 : vector<4xf16>
    %4 = math.clampf %arg0 to [%arg0, %arg0] : vector<4xf16>
    %5 = math.ipowi %arg1, %arg1 : vector<4xi16>
    %6 = math.fpowi %arg0, %arg1 : vector<4xf16>, vector<4xi16>
    %7 = math.fma %arg0, %arg0, %arg0 fastmath<contract> {k} : vector<4xf16>
    return
  }
}

// -----
module {
  func.func @two(%arg0: f32) {
    %sin, %cos = math.sincos %arg0 : f32
    return
  }
}
