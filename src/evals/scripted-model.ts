import { ModelError, type ModelErrorClass } from '../models/errors.ts';
import type { InferenceEnd, InferenceSink, Model } from '../models/model.ts';
import { giveAnswer } from '../models/scripted-answer.ts';
import type { Fixture, ScriptEvent } from '../schema/dataset.ts';
import type { RuntimeFailure } from '../schema/eval-report.ts';

/**
 * A model that replays a recording (evals-and-traces.md 3.2, 3.3, 5.2): each inference consumes the next event of the
 * combined script of all turns.
 */

export type ScriptedModel = {
  readonly model: Model;
  /** Returns the mismatch between the script and the run, if any. */
  disagreement(isUnusedAllowed: boolean): RuntimeFailure | undefined;
  /** Type of the first scripted failure that was replayed. */
  firedError(): string | undefined;
};

/** Characters per token, as the contract estimates. */
const CHARACTERS_A_TOKEN = 4;

const estimated = (text: string): number => Math.ceil([...text].length / CHARACTERS_A_TOKEN);

/** The script of a fixture without one. */
const mocked = ({ mock_response: mock, user_input }: Fixture): ScriptEvent => {
  if (mock.kind === 'error') return mock;
  const prompt_tokens = estimated(user_input);
  const completion_tokens = estimated(mock.text);
  return {
    kind: 'chat_response',
    content: mock.text,
    finish_reason: 'EndTurn',
    tokens: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
  };
};

/** Events of the first turn, then of each further turn. */
export const combinedScript = (fixture: Fixture): ScriptEvent[] => {
  const { provider_script = [], continued_turns = [] } = fixture;
  const first = provider_script.length > 0 ? provider_script : [mocked(fixture)];
  return [...first, ...continued_turns.flatMap((turn) => turn.provider_script ?? [])];
};

export const createScriptedModel = (fixture: Fixture): ScriptedModel => {
  const script = combinedScript(fixture);
  const expected = fixture.source_model_id || undefined;
  const upstream = expected ?? 'scripted';
  let played = 0;
  let extra_calls = 0;
  let fired: string | undefined;
  const model: Model = {
    id: 'scripted',
    provider: 'scripted',
    upstream,
    async stream({ overrides }, sink) {
      const requested = overrides.upstream_model ?? upstream;
      if (expected !== undefined && requested !== expected) {
        throw failure(
          'invalid_request',
          `the script was recorded with '${expected}', not with '${requested}'`,
        );
      }
      const event = script[played];
      if (!event) {
        extra_calls += 1;
        throw failure('provider', `the provider script has no more than ${script.length} events`);
      }
      played += 1;
      if (event.kind !== 'error') return play(event, sink);
      fired ??= event.error_type;
      throw failure(classOf(event.error_type), event.message);
    },
  };
  return {
    model,
    disagreement(isUnusedAllowed) {
      if (extra_calls > 0) return { kind: 'script_exhausted', extra_calls };
      const remaining = script.length - played;
      return remaining > 0 && !isUnusedAllowed ? { kind: 'provider_script_unused', remaining } : undefined;
    },
    firedError: () => fired,
  };
};

/** Final, because a retry would consume the next event of the script. */
const failure = (kind: ModelErrorClass, message: string): ModelError =>
  new ModelError(kind, message, { final: true });

const CLASSES: ReadonlyMap<string, ModelErrorClass> = new Map([
  ['rate_limit', 'rate_limited'],
  ['rate_limited', 'rate_limited'],
  ['overloaded', 'overloaded'],
  ['timeout', 'timeout'],
  ['context_overflow', 'context_overflow'],
  ['invalid_request', 'invalid_request'],
  ['unauthorized', 'unauthorized'],
  ['model_not_found', 'model_not_found'],
  ['content_filtered', 'content_filtered'],
]);

const classOf = (error_type: string): ModelErrorClass => CLASSES.get(error_type.toLowerCase()) ?? 'provider';

const play = (event: Exclude<ScriptEvent, { kind: 'error' }>, sink: InferenceSink): InferenceEnd => {
  const usage = Object.keys(event.tokens).length > 0 ? { usage: event.tokens } : {};
  if (event.kind === 'chat_response') {
    return giveAnswer({ text: event.content, stop: event.finish_reason, ...usage }, sink);
  }
  const { id, name, arguments: args, content = '' } = event;
  return giveAnswer({ text: content, calls: [{ id, tool: name, args }], ...usage }, sink);
};
