import { ID } from '../../entry/entry.ts';
import type { Schema } from '../../schema-form/schema.ts';

/** The form of a test case. The service checks what it leaves open, such as the events of a script. */

const TEXTS: Schema = { type: 'array', items: { type: 'string' } };
const COUNT: Schema = { type: 'integer', minimum: 0 };
/** Edited as JSON. */
const LIST: Schema = { type: 'array' };

export const FIXTURE: Schema = {
  type: 'object',
  required: ['id', 'user_input'],
  properties: {
    user_input: { type: 'string', minLength: 1 },
    id: { type: 'string', minLength: 1, maxLength: 128, pattern: ID.source },
    description: { type: 'string' },
    expect: {
      type: 'object',
      properties: {
        final_answer_contains: TEXTS,
        final_answer_excludes: TEXTS,
        tool_sequence: TEXTS,
        tool_sequence_mode: { enum: ['exact', 'ordered_subseq'], default: 'exact' },
        forbidden_tools: TEXTS,
        max_tokens_total: COUNT,
        max_duration_ms: COUNT,
        min_judge_score: { type: 'number', minimum: 0, maximum: 1 },
        expected_error_type: { type: 'string' },
        required_tool_calls: LIST,
        scorers: LIST,
        structured: { type: 'object' },
      },
    },
    provider_script: LIST,
    continued_turns: LIST,
  },
};

const lines = { 'ui:widget': 'lines' };

export const FIXTURE_UI = {
  user_input: { 'ui:widget': 'textarea', 'ui:options': { rows: 3 } },
  expect: {
    final_answer_contains: lines,
    final_answer_excludes: lines,
    tool_sequence: lines,
    forbidden_tools: lines,
  },
};
