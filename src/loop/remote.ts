import type { ContentBlock, Message } from '../schema/message.ts';
import type { RemoteAgent, RemoteOutcome, RemoteSnapshot, RemoteTurn } from '../tools/remote-agent.ts';
import { type InferOutcome, keepAnswer, openStep, reportInference } from './answer.ts';
import { hearPart } from './answer-parts.ts';
import { instructionOf, wantedOutput } from './output.ts';
import {
  asks,
  contextOf,
  handleOf,
  type Intent,
  intentOf,
  isOpen,
  noteContext,
  noteIntent,
  noteOutput,
  noteSaid,
  noteTask,
  saidBefore,
  works,
} from './remote-state.ts';
import { completeStep } from './step.ts';
import { contextOfInference } from './trace.ts';
import type { Step, Turn } from './turn.ts';

/**
 * A step of an agent that another service runs (a2a.md 12): in place of an inference, one turn of a conversation.
 *
 * Guarantees: a task is in the state of the run, durably, before anybody looks at what it does, so whoever takes the
 * run up again follows that task and submits nothing a second time; what a turn came to is told, kept and counted
 * like any other step. A turn that is cut off tells its task to stop, unless the service lets go of the run.
 * Relies on the remote agent for deadlines and reconnections. Costs one commit more than an inference.
 */

export const converse = async (
  turn: Turn,
  remote: RemoteAgent,
  signal: AbortSignal,
): Promise<InferOutcome> => {
  const step = openStep(turn);
  // Cut off before it has come to anything, it is neither told of nor counted.
  step.reported = true;
  step.completed = true;
  turn.outcome = undefined;
  const outcome = await talk(turn, { remote, step, signal });
  if (signal.aborted) return CUT_OFF;
  keepOutcome(turn, step, outcome);
  const led = ledTo(outcome);
  if (led.kind === 'stopped') await completeStep(turn, signal);
  // Input that came while the process was gone, and was in the history when the task was taken up again.
  else if (newMessages(turn).length > 0) return { kind: 'truncated' };
  turn.answered = led.kind === 'answer';
  return led;
};

/** The machine has moved on; nothing of this step may be kept. */
const CUT_OFF: InferOutcome = { kind: 'answer' };

type Talk = { remote: RemoteAgent; step: Step; signal: AbortSignal };

/** @throws Error when the message was not accepted, or there is none */
const talk = async (turn: Turn, { remote, step, signal }: Talk): Promise<RemoteOutcome> => {
  const { key } = remote;
  const { scope, stream } = turn;
  const stop = new AbortController();
  const leave = new AbortController();
  const cutOff = (): void => {
    if (turn.letGo) leave.abort();
    else {
      stop.abort();
      // Whoever follows it tells it; the end of the run need not do so again.
      const task = handleOf(turn, key);
      if (task && isOpen(task)) noteTask(turn, key, task, 'TASK_STATE_CANCELED');
    }
  };
  const opening = openingOf(turn, key, step);
  signal.addEventListener('abort', cutOff, { once: true });
  if (opening.intent && !intentOf(turn)) {
    noteIntent(turn, opening.intent);
    await turn.checkpoint();
  }
  const until = opening.intent?.until ?? messagesOf(turn).length;
  let submitted = opening.turn.follow !== undefined;
  const outcome = await remote.converse({
    ...opening.turn,
    run: { scope, id: turn.run_id },
    trace: contextOfInference(turn, step.index),
    async onSubmitted(task) {
      if (signal.aborted) return;
      submitted = true;
      noteSaid(turn, until);
      noteTask(turn, key, task, 'TASK_STATE_SUBMITTED');
      await turn.checkpoint();
    },
    onSnapshot(snapshot) {
      if (signal.aborted) return;
      const { state, context_id } = snapshot;
      const known = handleOf(turn, key);
      if (known?.last_state !== state || known.context_id !== context_id)
        noteTask(turn, key, snapshot, state);
      stream.emit(progressOf(snapshot));
    },
    onText(delta) {
      if (signal.aborted) return;
      step.text += delta;
      stream.text(delta);
    },
    signal: stop.signal,
    leave: leave.signal,
  });
  if (signal.aborted) return outcome;
  const task = outcome.task ?? (submitted ? handleOf(turn, key) : undefined);
  if (task) noteTask(turn, key, task, submitted ? STATE_AFTER[outcome.status] : 'DIRECT_MESSAGE');
  noteContext(turn, key, outcome.context_id);
  if (opening.turn.say) noteSaid(turn, until);
  return outcome;
};

/** A task that timed out has been told to stop. */
const STATE_AFTER = {
  completed: 'TASK_STATE_COMPLETED',
  cancelled: 'TASK_STATE_CANCELED',
  timeout: 'TASK_STATE_CANCELED',
  input_required: 'TASK_STATE_INPUT_REQUIRED',
  auth_required: 'TASK_STATE_AUTH_REQUIRED',
  rejected: 'TASK_STATE_REJECTED',
  failed: 'TASK_STATE_FAILED',
} as const satisfies Record<RemoteOutcome['status'], string>;

/** A task at work is followed on; one that asks for something is answered; else the conversation goes on with a new one. */
const openingOf = (turn: Turn, key: string, { index }: Step): Opening => {
  const handle = handleOf(turn, key);
  const context_id = contextOf(turn, key);
  const context = context_id !== undefined && { context_id };
  if (handle && works(handle)) return { turn: { follow: { task_id: handle.task_id, ...context } } };
  const intent = intentOf(turn) ?? { message_id: `${turn.run_id}-${index}`, until: messagesOf(turn).length };
  const said = messagesOf(turn).slice(saidBefore(turn), intent.until);
  const content = said.flatMap((message): ContentBlock[] => message.content);
  if (content.length === 0) throw new Error('no user message content to send');
  const wanted = wantedOutput(turn);
  if (wanted) content.push({ type: 'text', text: instructionOf(wanted) });
  return {
    intent,
    turn: {
      say: {
        // The same when the process dies before the task is known here: the other side recognises the message.
        message_id: intent.message_id,
        content,
        ...(handle && asks(handle) && { task_id: handle.task_id }),
        ...context,
      },
    },
  };
};

type Opening = { turn: Pick<RemoteTurn, 'follow' | 'say'>; intent?: Intent };

const messagesOf = ({ run_id, committed, produced }: Turn): Message[] =>
  [...committed(), ...produced].filter(
    ({ role, metadata }) => role === 'user' && metadata?.run_id === run_id,
  );

/** Those of the run that have not gone out. */
const newMessages = (turn: Turn): Message[] => messagesOf(turn).slice(saidBefore(turn));

const progressOf = ({ task_id, context_id, state, text, artifacts, failure_message }: RemoteSnapshot) => ({
  event_type: 'activity_snapshot' as const,
  message_id: task_id,
  activity_type: 'a2a-task-progress',
  replace: true,
  content: {
    schema: 'a2a-task-progress.v1',
    task_id,
    context_id: context_id ?? null,
    state,
    text: text ?? null,
    artifacts: artifacts.map((artifact) => ({ ...artifact })),
    failure_message: failure_message ?? null,
  },
});

const keepOutcome = (turn: Turn, step: Step, outcome: RemoteOutcome): void => {
  const { text, status } = outcome;
  // A task that asks keeps what it has made until it is over.
  const { words = text, parts = [] } = ledTo(outcome).kind === 'asks' ? {} : outcome;
  turn.outcome = outcome;
  noteOutput(turn, outcome);
  // What has been streamed is not taken back.
  const rest = words.startsWith(step.text) ? words.slice(step.text.length) : '';
  if (rest !== '') turn.stream.text(rest);
  step.text = words;
  for (const part of parts) hearPart(turn, step, part, { remote: turn.agent.spec.id });
  if (words !== '' || step.parts.length > 0) keepAnswer(turn, step);
  turn.response = text;
  step.completed = false;
  step.reported = status !== 'completed';
  reportInference(turn);
};

const ledTo = (outcome: RemoteOutcome): InferOutcome => {
  switch (outcome.status) {
    case 'completed':
      return { kind: 'answer' };
    case 'input_required':
      return { kind: 'asks', waits: 'forInput' };
    case 'auth_required':
      return { kind: 'asks', waits: 'forAuthentication' };
    case 'cancelled':
      return { kind: 'stopped', ending: { type: 'cancelled' } };
    case 'timeout':
      return { kind: 'stopped', ending: { type: 'stopped', value: { code: 'timeout' } } };
    case 'rejected':
    case 'failed':
      return { kind: 'stopped', ending: { type: 'error', value: outcome.reason } };
  }
};
