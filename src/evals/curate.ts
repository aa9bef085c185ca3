import { z } from 'zod';
import { Fixture, type RecordedResult, ScriptEvent, ScriptTokens } from '../schema/dataset.ts';
import { isObject, type Json, REDACTED } from '../schema/endpoint.ts';

/**
 * Converts the events of a trace to a test case (evals-and-traces.md 4.7).
 *
 * Events are processed one at a time, and only data for the fixture is kept: prompts, which may be long, are released
 * once the user input was extracted. Nothing here throws, whatever program wrote the trace: data with an unexpected
 * shape is treated as not captured.
 */

export type Excerpt = {
  inferences: number;
  /** Thread of the first inference. */
  thread_id: string;
  model: string | undefined;
  user_input: string | undefined;
  script: ScriptEvent[];
  /** The reason why the completions cannot be replayed. */
  unplayable: string | undefined;
  tool_results: RecordedResult[];
  /** Size as JSON, in characters. */
  size: number;
};

export const newExcerpt = (): Excerpt => ({
  inferences: 0,
  thread_id: '',
  model: undefined,
  user_input: undefined,
  script: [],
  unplayable: undefined,
  tool_results: [],
  size: 0,
});

export const ScriptMode = z
  .enum(['optional', 'require', 'skip'])
  .meta({ description: 'handling of a trace whose responses cannot be replayed; default `optional`' });
export type ScriptMode = z.infer<typeof ScriptMode>;

const text = z.string().min(1).optional().catch(undefined);
const json = z.custom<Json | undefined>().optional();
/** Validated together with the other token counts. */
const number = z.unknown().optional();

const Inference = z.object({
  type: z.literal('inference'),
  thread_id: text,
  model: text,
  error_type: text,
  finish_reasons: z.array(z.string()).catch([]),
  input_tokens: number,
  output_tokens: number,
  total_tokens: number,
  cache_read_input_tokens: number,
  cache_creation_input_tokens: number,
  thinking_tokens: number,
  request_messages: json,
  response_content: json,
  response_tool_calls: json,
});
type Inference = z.infer<typeof Inference>;

const Executed = z.object({
  type: z.literal('tool'),
  name: z.string(),
  call_arguments: json,
  call_result: json,
  error_type: text,
});

export const follow = (excerpt: Excerpt, event: unknown): void => {
  const inference = Inference.safeParse(event);
  if (inference.success) followInference(excerpt, inference.data);
  const executed = Executed.safeParse(event);
  if (executed.success) followTool(excerpt, executed.data);
};

const followInference = (excerpt: Excerpt, event: Inference): void => {
  excerpt.inferences += 1;
  if (excerpt.inferences === 1) excerpt.thread_id = event.thread_id ?? '';
  excerpt.model ??= event.model;
  excerpt.user_input ??= userInputOf(event.request_messages);
  if (excerpt.unplayable !== undefined) return;
  const scripted = scriptEventOf(event);
  if (typeof scripted === 'string') {
    excerpt.unplayable = scripted;
    excerpt.script = [];
    return;
  }
  excerpt.script.push(scripted);
  excerpt.size += JSON.stringify(scripted).length;
};

/** Incompletely captured results are skipped, because a replay must not return results that the tool never produced. */
const followTool = (excerpt: Excerpt, event: z.infer<typeof Executed>): void => {
  const { name, call_arguments, call_result, error_type } = event;
  if (!isWhole(call_arguments) || !isWhole(call_result)) return;
  if (error_type !== undefined && error_type !== 'tool_error') return;
  const is_error = error_type === 'tool_error' && { is_error: true as const };
  const recorded: RecordedResult = { name, arguments: call_arguments, result: call_result, ...is_error };
  excerpt.tool_results.push(recorded);
  excerpt.size += JSON.stringify(recorded).length;
};

/** Redaction may also hide a part of a text, such as an address. */
const isWhole = (value: Json | undefined): value is Json =>
  value !== undefined &&
  !(isObject(value) && Object.hasOwn(value, '__payload_truncated')) &&
  !JSON.stringify(value).includes(REDACTED);

/** The latest non-empty text of the user. */
const userInputOf = (messages: Json | undefined): string | undefined => {
  if (!Array.isArray(messages)) return undefined;
  for (const message of messages.toReversed()) {
    if (!isObject(message) || message.role !== 'user' || !Array.isArray(message.content)) continue;
    const userText = message.content.map((block) => textIn(block) ?? '').join('');
    if (userText !== '') return userText;
  }
  return undefined;
};

const textIn = (block: unknown): string | undefined =>
  isObject(block) && block.type === 'text' && typeof block.text === 'string' ? block.text : undefined;

const NOTHING = 'the answer of the model was not captured';

/** Returns the event, or the reason why there is none. */
const scriptEventOf = (event: Inference): ScriptEvent | string => {
  const { error_type, response_tool_calls } = event;
  const response_content = withoutProvided(event.response_content);
  if (error_type !== undefined) return { kind: 'error', error_type, message: '' };
  const tokens = tokensOf(event);
  const blocks = response_content ?? [];
  if (!Array.isArray(blocks)) return NOTHING;
  const texts = blocks.map(textIn);
  if (texts.includes(undefined))
    return 'provider_script contains only text, but the answer has other content';
  const content = texts.join('');
  if (response_tool_calls !== undefined && response_tool_calls !== null)
    return toolCallOf(response_tool_calls, content, tokens);
  if (blocks.length === 0) return NOTHING;
  return { kind: 'chat_response', content, tokens, finish_reason: finishReasonOf(event.finish_reasons[0]) };
};

/** A script replays the text of the model; provider calls and sources need no replay. */
const withoutProvided = (content: Json | undefined): Json | undefined =>
  Array.isArray(content)
    ? content.filter((block) => !(isObject(block) && PROVIDED.includes(block.type)))
    : content;

const PROVIDED: readonly unknown[] = ['provider_call', 'source_url', 'source_document'];

/** Models often say what they are about to do next to a call. */
const toolCallOf = (calls: Json, content: string, tokens: ScriptTokens): ScriptEvent | string => {
  if (!Array.isArray(calls)) return NOTHING;
  if (calls.length > 1) return 'provider_script currently supports one tool call per turn';
  const [call] = calls;
  if (call === undefined) return 'the list of tool calls is empty';
  const parsed = ScriptEvent.safeParse(
    isObject(call) ? { ...call, kind: 'tool_call', content, tokens } : call,
  );
  return parsed.success ? parsed.data : 'a tool call has no id, name and arguments';
};

const FINISH = {
  end_turn: 'EndTurn',
  max_tokens: 'MaxTokens',
  tool_use: 'ToolUse',
  stop_sequence: 'StopSequence',
} as const;

const finishReasonOf = (reason: string | undefined): (typeof FINISH)[keyof typeof FINISH] =>
  reason !== undefined && Object.hasOwn(FINISH, reason) ? FINISH[reason as keyof typeof FINISH] : 'EndTurn';

const tokensOf = (event: Inference): ScriptTokens => {
  const given = {
    prompt_tokens: event.input_tokens,
    completion_tokens: event.output_tokens,
    total_tokens: event.total_tokens,
    cache_read_tokens: event.cache_read_input_tokens,
    cache_creation_tokens: event.cache_creation_input_tokens,
    thinking_tokens: event.thinking_tokens,
  };
  const parsed = ScriptTokens.safeParse(given);
  return parsed.success ? parsed.data : {};
};

/** The reason why a trace cannot become a test case, or undefined. */
export const findProblem = ({ inferences, unplayable }: Excerpt, mode: ScriptMode): string | undefined => {
  if (inferences === 0) return 'the trace has no inference spans';
  return mode === 'require' ? unplayable : undefined;
};

const SKIPPED = 'provider_script conversion skipped by request';

type Script = Pick<Fixture, 'provider_script' | 'provider_script_error'>;

export const createScript = ({ script, unplayable }: Excerpt, mode: ScriptMode): Script => {
  if (mode === 'skip') return { provider_script_error: SKIPPED };
  return unplayable === undefined ? { provider_script: script } : { provider_script_error: unplayable };
};

export type FixtureText = Pick<Fixture, 'id' | 'user_input' | 'expect'> & {
  description: string;
  source_run_id: string;
};

/** Without a script the fixture is for live runs only. */
export const createFixture = (
  text: FixtureText & Partial<Pick<Fixture, 'allow_unused_provider_script' | 'continued_turns'>>,
  excerpt: Pick<Excerpt, 'model' | 'tool_results'>,
  script: Script,
): Fixture =>
  Fixture.parse({
    ...text,
    ...script,
    source_model_id: excerpt.model,
    tool_results: excerpt.tool_results,
  });
