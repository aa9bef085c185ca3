import type { EvalFailure } from '../../schema/eval-report.ts';

export const failureText = (failure: EvalFailure): string => {
  switch (failure.kind) {
    case 'answer_missing_phrase':
      return `the answer does not contain ${quoted(failure.phrase)}`;
    case 'answer_contains_excluded_phrase':
      return `the answer contains ${quoted(failure.phrase)}`;
    case 'tool_sequence_mismatch':
      return `tools were ${listed(failure.actual)}, expected ${failure.mode === 'ordered_subseq' ? 'in this order ' : ''}${listed(failure.expected)}`;
    case 'forbidden_tool_used':
      return `tool ${failure.tool} was called`;
    case 'required_tool_call_not_satisfied': {
      const { op, n } = failure.expected_count ?? { op: 'at_least', n: 1 };
      return `${failure.actual_matches} matching calls of ${failure.name}, expected ${op.replace('_', ' ')} ${n}`;
    }
    case 'token_budget_exceeded':
      return `${failure.actual} tokens, allowed are ${failure.budget}`;
    case 'duration_exceeded':
      return `${failure.actual_ms} ms, allowed are ${failure.budget_ms}`;
    case 'expected_error_missing':
      return `no error, expected ${failure.expected}`;
    case 'error_type_mismatch':
      return `error ${failure.actual}, expected ${failure.expected}`;
    case 'replay_runtime_failure':
      return runtimeText(failure.failure);
    case 'judge_below_threshold':
      return `the judge gave ${failure.actual}, wanted is ${failure.threshold}`;
    case 'structured_mismatch':
      return `structured result: ${failure.message}`;
    case 'scorer_failed':
      return `${failure.scorer}: ${failure.message}`;
  }
};

type Runtime = Extract<EvalFailure, { kind: 'replay_runtime_failure' }>['failure'];

const runtimeText = (failure: Runtime): string => {
  if (failure.kind === 'runtime_error') return failure.message;
  return failure.kind === 'script_exhausted'
    ? `${failure.extra_calls} calls of the model more than the script has`
    : `${failure.remaining} events of the script were not used`;
};

const quoted = (text: string): string => JSON.stringify(text);

const listed = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.join(', '));
