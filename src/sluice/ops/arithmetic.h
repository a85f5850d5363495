// Sums and scalings of whole tensors.
#pragma once

#include "sluice/ops/tape.h"

namespace sluice {

// x + y, the residual connection.
Var add(const Context& context, const Var& x, const Var& y);

Var scale(const Context& context, const Var& x, double factor);

// Mean over all elements, a tensor of rank 0. The mean of nothing is 0.
Var mean(const Context& context, const Var& x);

// Row `x` [D] repeated: [rows, D]. Turns an input-independent gate's scores into scores per token.
Var repeat_row(const Context& context, const Var& x, int64_t rows);

// All rows of `x` [N, D] again and again: [count · N, D]. Without a tape.
Tensor repeat_rows(const Context& context, const Tensor& x, int64_t count);

// sum = a + b without a tape; sum may be a.
void add_into(const Context& context, const Tensor& sum, const Tensor& a, const Tensor& b);

// total[c] += sum over rows of x[r, c], the gradient of everything that is shared by all rows.
void add_column_sums(const Context& context, const Tensor& x, const Tensor& total);

// Sum of all elements, the same for any number of threads.
double sum(const Context& context, const Tensor& x);

}  // namespace sluice
