import type { Encoder } from '../../runtime/channel.ts';
import type { Json } from '../../schema/json.ts';
import { callOfActivity, type ProviderCall } from '../../schema/provider-tool.ts';
import type { Run, Termination } from '../../schema/run.ts';
import type { RunEvent, RunEventOf } from '../../schema/run-event.ts';

/**
 * What a client is told of the run of its call (mcp.md A9): lines of a log while it goes on, and at its end one text.
 * An encoder without frames: what it hears goes to a listener instead.
 */
export type CallStory = {
  encoder: Encoder;
  /** What came of the run, as far as it was heard. */
  outcome(): CallOutcome;
};

/** `asked`: the run waits for a decision or input. `left`: the service stops, and the run continues after its restart. */
export type CallOutcome = {
  kind: 'ended' | 'asked' | 'failed' | 'left';
  text: string;
  /** What the model provider executed. */
  calls?: readonly ProviderCall[];
  /** What the answer refers to, as in the stream of the run. */
  sources?: readonly Json[];
};

export type LogLevel = 'debug' | 'info' | 'notice' | 'error';

export type StoryListener = {
  log(level: LogLevel, text: string): void;
  /** A step or a tool call is done. */
  advance(done: number, text: string): void;
};

const UNHEARD: CallOutcome = { kind: 'failed', text: 'agent run ended without terminal status' };

export const createCallStory = ({ log, advance }: StoryListener): CallStory => {
  let text = '';
  /** Of the text, where the step began: what follows is taken back when the step is repeated. */
  let stepAt = 0;
  let steps = 0;
  let done = 0;
  const tools = new Map<string, string>();
  const provided = createProvided(log);
  let outcome = UNHEARD;

  const finished = (line: string): void => {
    done += 1;
    advance(done, line);
  };

  const toolDone = (id: string, succeeded: boolean): void => {
    const line = `tool ${tools.get(id) ?? id} completed: ${succeeded ? 'success' : 'error'}`;
    tools.delete(id);
    log('info', line);
    finished(line);
  };

  const hear = (event: RunEvent): void => {
    switch (event.event_type) {
      case 'step_start':
        stepAt = text.length;
        provided.keep();
        steps += 1;
        log('info', `step ${steps}`);
        break;
      case 'stream_reset':
        text = text.slice(0, stepAt);
        provided.takeBack();
        break;
      case 'step_end':
        stepAt = text.length;
        finished(`step ${steps}`);
        break;
      case 'tool_call_start':
        tools.set(event.id, event.name);
        log('info', `calling tool: ${event.name}`);
        break;
      case 'tool_call_done':
        if (event.outcome !== 'suspended') toolDone(event.id, event.outcome === 'succeeded');
        break;
      case 'inference_complete':
        log('debug', `inference complete: model=${event.model} duration=${event.duration_ms}ms`);
        break;
      case 'error':
        outcome = failed(event.message);
        break;
      case 'run_finish':
        if (outcome === UNHEARD) outcome = { ...outcomeOf(event.termination, text), ...provided.all() };
        break;
      case 'activity_snapshot':
        provided.hear(event);
        break;
      default:
    }
  };

  return {
    encoder: {
      event(event) {
        if (event.event_type === 'text_delta') text += event.delta;
        else hear(event);
        return '';
      },
      text(delta) {
        text += delta;
        return '';
      },
      reasoning: nothing,
      toolDelta: nothing,
    },
    outcome: () => outcome,
  };
};

/** Calls that the model provider executes, and the sources that it names. */
const createProvided = (log: StoryListener['log']) => {
  let calls = new Map<string, ProviderCall>();
  let sources: Json[] = [];
  let kept = { calls: new Map(calls), sources: [...sources] };
  return {
    hear(event: RunEventOf<'activity_snapshot'>): void {
      const call = callOfActivity(event);
      if (call) {
        if (!calls.has(call.id)) log('info', `the model provider executes: ${call.tool}`);
        calls.set(call.id, call);
      } else if (event.activity_type === 'source-url' || event.activity_type === 'source-document')
        sources.push(event.content);
    },
    /** What was heard so far is not taken back any more. */
    keep(): void {
      kept = { calls: new Map(calls), sources: [...sources] };
    },
    takeBack(): void {
      calls = new Map(kept.calls);
      sources = [...kept.sources];
    },
    all: (): Pick<CallOutcome, 'calls' | 'sources'> => ({
      ...(calls.size > 0 && { calls: [...calls.values()] }),
      ...(sources.length > 0 && { sources }),
    }),
  };
};

const nothing = (): string => '';

export const failed = (reason: string): CallOutcome => ({
  kind: 'failed',
  text: `agent run failed: ${reason}`,
});

/** The stream has ended before the run. */
export const leftBehind = ({ run_id, thread_id, agent_id }: Run): CallOutcome => ({
  kind: 'left',
  text:
    `The call has no result yet: the service is stopping, and run ${run_id} of agent ${agent_id} on thread ` +
    `${thread_id} continues after its restart. Do not repeat the call. GET /v1/runs/${run_id} returns the result.`,
});

/** Stands where an answer has no text. */
export const NO_RESPONSE = '(no response)';

const outcomeOf = (termination: Termination, text: string): CallOutcome => {
  switch (termination.type) {
    case 'cancelled':
      return { kind: 'failed', text: 'agent run cancelled' };
    case 'blocked':
      return { kind: 'failed', text: `agent run blocked: ${termination.value}` };
    case 'suspended':
      return { kind: 'asked', text: 'agent run suspended' };
    case 'error':
      return failed(termination.value);
    default:
      return { kind: 'ended', text: text || NO_RESPONSE };
  }
};

/** Of a run that nobody has heard: as its record says. */
export const outcomeOfRun = (run: Run | undefined): CallOutcome => {
  if (!run) return UNHEARD;
  const { status, termination_reason, final_output = '' } = run;
  return outcomeOf(
    status === 'done' && termination_reason ? termination_reason : { type: 'suspended' },
    final_output,
  );
};
