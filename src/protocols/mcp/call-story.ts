import type { Encoder } from '../../runtime/run/live-channel.ts';
import type { Json } from '../../schema/json.ts';
import { callOfActivity, type ProviderCall } from '../../schema/provider-tool.ts';
import type { Run, Termination } from '../../schema/run.ts';
import type { RunEvent, RunEventOf } from '../../schema/run-event.ts';
import { failureOf } from '../../schema/run-failure.ts';

/**
 * Reports the run of a call to its client (mcp.md A9): log lines during the run, and a final text. Implemented as an
 * encoder without frames that forwards events to a listener.
 */
export type CallStory = {
  encoder: Encoder;
  /** Returns the result of the run, as far as its events were received. */
  outcome(): CallOutcome;
};

/**
 * `asked`: the run waits for a decision or input. `left`: the service stops, and the run continues after its restart.
 */
export type CallOutcome = {
  kind: 'ended' | 'asked' | 'failed' | 'left';
  text: string;
  /** Calls that the model provider executed. */
  calls?: readonly ProviderCall[];
  /** Sources of the response, as in the stream of the run. */
  sources?: readonly Json[];
};

export type LogLevel = 'debug' | 'info' | 'notice' | 'error';

export type StoryListener = {
  log(level: LogLevel, text: string): void;
  /** Called when a step or a tool call is done. */
  advance(done: number, text: string): void;
};

const NO_OUTCOME: CallOutcome = { kind: 'failed', text: 'agent run ended without terminal status' };

export const createCallStory = (listener: StoryListener): CallStory => {
  const story: Story = {
    listener,
    text: '',
    stepAt: 0,
    steps: 0,
    done: 0,
    tools: new Map(),
    provided: createProvided(listener.log),
    outcome: NO_OUTCOME,
  };
  return {
    encoder: {
      event(event) {
        if (event.event_type === 'text_delta') story.text += event.delta;
        else report(story, event);
        return '';
      },
      text(delta) {
        story.text += delta;
        return '';
      },
      reasoning: nothing,
      toolDelta: nothing,
    },
    outcome: () => story.outcome,
  };
};

type Story = {
  readonly listener: StoryListener;
  text: string;
  /** Length of the text at the start of the step, to which a repeated step returns. */
  stepAt: number;
  steps: number;
  /** Completed steps and tool calls. */
  done: number;
  /** Names of the tools of open calls, by call id. */
  readonly tools: Map<string, string>;
  readonly provided: ReturnType<typeof createProvided>;
  outcome: CallOutcome;
};

const report = (story: Story, event: RunEvent): void => {
  const { listener, provided, tools } = story;
  switch (event.event_type) {
    case 'step_start':
      story.stepAt = story.text.length;
      provided.keep();
      story.steps += 1;
      listener.log('info', `step ${story.steps}`);
      break;
    case 'stream_reset':
      story.text = story.text.slice(0, story.stepAt);
      provided.takeBack();
      break;
    case 'step_end':
      story.stepAt = story.text.length;
      advance(story, `step ${story.steps}`);
      break;
    case 'tool_call_start':
      tools.set(event.id, event.name);
      listener.log('info', `calling tool: ${event.name}`);
      break;
    case 'tool_call_done':
      if (event.outcome !== 'suspended') endTool(story, event.id, event.outcome);
      break;
    case 'inference_complete':
      listener.log('debug', `inference complete: model=${event.model} duration=${event.duration_ms}ms`);
      break;
    case 'error':
      story.outcome = failed(event.message);
      break;
    case 'run_finish':
      if (story.outcome === NO_OUTCOME)
        story.outcome = { ...outcomeOf(event.termination, story.text), ...provided.all() };
      break;
    case 'activity_snapshot':
      provided.record(event);
      break;
    default:
  }
};

const advance = (story: Story, line: string): void => {
  story.done += 1;
  story.listener.advance(story.done, line);
};

const endTool = (story: Story, id: string, outcome: RunEventOf<'tool_call_done'>['outcome']): void => {
  const { listener, tools } = story;
  const line = `tool ${tools.get(id) ?? id} completed: ${outcome === 'succeeded' ? 'success' : 'error'}`;
  tools.delete(id);
  listener.log('info', line);
  advance(story, line);
};

/** Tracks calls that the model provider executes, and the sources that it names. */
const createProvided = (log: StoryListener['log']) => {
  let calls = new Map<string, ProviderCall>();
  let sources: Json[] = [];
  let kept = { calls: new Map(calls), sources: [...sources] };
  return {
    record(event: RunEventOf<'activity_snapshot'>): void {
      const call = callOfActivity(event);
      if (call) {
        if (!calls.has(call.id)) log('info', `the model provider executes: ${call.tool}`);
        calls.set(call.id, call);
      } else if (event.activity_type === 'source-url' || event.activity_type === 'source-document')
        sources.push(event.content);
    },
    /** Commits the events so far, so that they are not revoked. */
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

/** Replaces the text of a response without text. */
export const NO_RESPONSE = '(no response)';

const outcomeOf = (termination: Termination, text: string): CallOutcome => {
  const failure = failureOf(termination);
  if (failure) return failed(failure.message);
  switch (termination.type) {
    case 'cancelled':
      return { kind: 'failed', text: 'agent run cancelled' };
    case 'blocked':
      return { kind: 'failed', text: `agent run blocked: ${termination.value}` };
    case 'suspended':
      return { kind: 'asked', text: 'agent run suspended' };
    default:
      return { kind: 'ended', text: text || NO_RESPONSE };
  }
};

/** Returns the result of a run from its record, without its events. */
export const outcomeOfRun = (run: Run | undefined): CallOutcome => {
  if (!run) return NO_OUTCOME;
  const { status, termination_reason, final_output = '' } = run;
  return outcomeOf(
    status === 'done' && termination_reason ? termination_reason : { type: 'suspended' },
    final_output,
  );
};
