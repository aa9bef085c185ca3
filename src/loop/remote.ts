import type { ContentBlock, Message } from '../schema/message.ts';
import type { RemoteAgent, RemoteOutcome, RemoteSnapshot, RemoteTurn } from '../tools/remote-agent.ts';
import { type InferOutcome, keepAnswer, openStep, reportInference } from './answer.ts';
import { receivePart } from './answer-parts.ts';
import { outputInstruction, wantedOutput } from './output.ts';
import {
  findContext,
  findHandle,
  findIntent,
  type Intent,
  isOpen,
  isWorking,
  needsInput,
  noteContext,
  noteIntent,
  noteOutput,
  noteSent,
  noteTask,
  sentBefore,
} from './remote-state.ts';
import { sendHeld } from './result-call.ts';
import { completeStep } from './step.ts';
import { contextOfInference } from './trace.ts';
import type { Step, Turn } from './turn.ts';

/**
 * A step of an agent that another service runs (a2a.md 12): one turn of a conversation in place of an inference.
 *
 * Guarantees: a task is stored durably in the state of the run before it is followed, so that a later execution follows
 * the same task and submits nothing twice; the outcome of a turn is emitted, stored and counted like any other step. A
 * turn that is aborted cancels its task, unless the service releases the run.
 * Relies on the remote agent for deadlines and reconnections.
 * Cost: one commit more than an inference.
 */

export const converse = async (
  turn: Turn,
  remote: RemoteAgent,
  signal: AbortSignal,
): Promise<InferOutcome> => {
  const step = openStep(turn);
  // Until it has an outcome, an aborted step is neither reported nor counted.
  step.reported = true;
  step.completed = true;
  turn.outcome = undefined;
  const outcome = await talk(turn, { remote, step, signal });
  if (signal.aborted) return CUT_OFF;
  keepOutcome(turn, step, outcome);
  const led = ledTo(outcome);
  if (led.kind === 'stopped') await completeStep(turn, signal);
  // Input that arrived while no process was running, and that was in the history before the task was resumed.
  else if (newMessages(turn).length > 0) return { kind: 'truncated' };
  turn.answered = led.kind === 'answer';
  return led;
};

/** The machine is in another state; no output of this step may be kept. */
const CUT_OFF: InferOutcome = { kind: 'answer' };

type Talk = { remote: RemoteAgent; step: Step; signal: AbortSignal };

/** @throws Error when the message was not accepted, or there is none */
const talk = async (turn: Turn, { remote, step, signal }: Talk): Promise<RemoteOutcome> => {
  const { key } = remote;
  const { scope, stream } = turn;
  const stop = new AbortController();
  const leave = new AbortController();
  const cutOff = (): void => {
    if (turn.isReleased) leave.abort();
    else {
      stop.abort();
      // The follower cancels the task, so the end of the run must not cancel it again.
      const task = findHandle(turn, key);
      if (task && isOpen(task)) noteTask(turn, key, task, 'TASK_STATE_CANCELED');
    }
  };
  const opening = openingOf(turn, key, step);
  signal.addEventListener('abort', cutOff, { once: true });
  if (opening.intent && !findIntent(turn)) {
    noteIntent(turn, opening.intent);
    await turn.checkpoint();
  }
  const until = opening.intent?.until ?? messagesOf(turn).length;
  const holdsText = wantedOutput(turn) !== undefined;
  let submitted = opening.turn.follow !== undefined;
  const outcome = await remote.converse({
    ...opening.turn,
    run: { scope, id: turn.run_id },
    trace: contextOfInference(turn, step.index),
    async onSubmitted(task) {
      if (signal.aborted) return;
      submitted = true;
      noteSent(turn, until);
      noteTask(turn, key, task, 'TASK_STATE_SUBMITTED');
      await turn.checkpoint();
    },
    onSnapshot(snapshot) {
      if (signal.aborted) return;
      const { state, context_id } = snapshot;
      const known = findHandle(turn, key);
      if (known?.last_state !== state || known.context_id !== context_id)
        noteTask(turn, key, snapshot, state);
      stream.emit(progressOf(snapshot));
    },
    onText(delta) {
      if (signal.aborted) return;
      step.text += delta;
      if (holdsText) step.unsent += delta;
      else stream.text(delta);
    },
    signal: stop.signal,
    leave: leave.signal,
  });
  if (signal.aborted) return outcome;
  const task = outcome.task ?? (submitted ? findHandle(turn, key) : undefined);
  if (task) noteTask(turn, key, task, submitted ? STATE_AFTER[outcome.status] : 'DIRECT_MESSAGE');
  noteContext(turn, key, outcome.context_id);
  if (opening.turn.say) noteSent(turn, until);
  return outcome;
};

/** A task that timed out has been cancelled. */
const STATE_AFTER = {
  completed: 'TASK_STATE_COMPLETED',
  cancelled: 'TASK_STATE_CANCELED',
  timeout: 'TASK_STATE_CANCELED',
  input_required: 'TASK_STATE_INPUT_REQUIRED',
  auth_required: 'TASK_STATE_AUTH_REQUIRED',
  rejected: 'TASK_STATE_REJECTED',
  failed: 'TASK_STATE_FAILED',
} as const satisfies Record<RemoteOutcome['status'], string>;

/**
 * A working task is followed further; a task that requires input receives it; otherwise a new task continues the
 * conversation.
 */
const openingOf = (turn: Turn, key: string, { index }: Step): Opening => {
  const handle = findHandle(turn, key);
  const context_id = findContext(turn, key);
  const context = context_id !== undefined && { context_id };
  if (handle && isWorking(handle)) return { turn: { follow: { task_id: handle.task_id, ...context } } };
  const intent = findIntent(turn) ?? {
    message_id: `${turn.run_id}-${index}`,
    until: messagesOf(turn).length,
  };
  const messages = messagesOf(turn).slice(sentBefore(turn), intent.until);
  const content = messages.flatMap((message): ContentBlock[] => message.content);
  if (content.length === 0) throw new Error('no user message content to send');
  const wanted = wantedOutput(turn);
  if (wanted) content.push({ type: 'text', text: outputInstruction(wanted) });
  return {
    intent,
    turn: {
      say: {
        // The id stays the same if the process dies before it has stored the task, so the remote service detects the
        // duplicate.
        message_id: intent.message_id,
        content,
        ...(handle && needsInput(handle) && { task_id: handle.task_id }),
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

/** Returns the run's user messages that were not sent yet. */
const newMessages = (turn: Turn): Message[] => messagesOf(turn).slice(sentBefore(turn));

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
  // The output of a task that requires input is kept until the task ends.
  const { plainText = text, parts = [] } = ledTo(outcome).kind === 'asks' ? {} : outcome;
  turn.outcome = outcome;
  noteOutput(turn, outcome);
  // Streamed text is not retracted.
  const sent = step.text.slice(0, step.text.length - step.unsent.length);
  step.unsent = plainText.startsWith(sent) ? plainText.slice(sent.length) : '';
  step.text = plainText;
  // A result is sent once it fits its schema (structured-results.md).
  if (!wantedOutput(turn) || ledTo(outcome).kind !== 'answer') sendHeld(turn, step);
  for (const part of parts) receivePart(turn, step, part, { remote: turn.agent.spec.id });
  if (plainText !== '' || step.parts.length > 0) keepAnswer(turn, step);
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
