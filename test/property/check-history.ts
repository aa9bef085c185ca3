import assert from 'node:assert/strict';
import { listMessages } from '../../src/runtime/index.ts';
import { type Message, textOf } from '../../src/schema/message.ts';
import type { Input } from './client.ts';
import type { Sequence } from './sequence.ts';
import type { World } from './view.ts';

/**
 * Checks that accepted input is in the history once and in order, and that the read view is complete (runtime.md 4.1,
 * 18).
 */

/** Whether the removal of its thread may have removed the input. */
const mayBeRemoved = ({ removals }: Sequence, { thread, askedAt }: Input): boolean =>
  removals.some((removal) => {
    if (removal.thread !== thread || removal.answer?.status === 'refused') return false;
    return (removal.answeredAt ?? Number.POSITIVE_INFINITY) > askedAt;
  });

const checkInput = (sequence: Sequence, history: readonly Message[], input: Input): void => {
  const found = history.filter(({ role, content }) => role === 'user' && textOf(content) === input.text);
  const { answer, name } = input;
  assert.ok(found.length <= 1, `${name} is in the history ${found.length} times`);
  const accepted = answer?.status === 'accepted';
  if (accepted && !mayBeRemoved(sequence, input))
    assert.equal(found.length, 1, `${name} was accepted and is lost`);
  if (answer && !accepted) assert.equal(found.length, 0, `${name} was refused and is in the history`);
  const [message] = found;
  if (!accepted || !message) return;
  const run_id = message.metadata?.run_id ?? '';
  const { runs } = sequence.store;
  assert.ok(runs.get(sequence.scope, run_id), `${name} belongs to no run`);
  if (run_id === answer.run_id) return;
  // A run that ends before it takes its input leaves the input to another run; a dedicated run has it from its start.
  const meant = runs.get(sequence.scope, answer.run_id ?? '');
  const own = meant?.input?.trigger_message_ids?.includes(message.id) ?? false;
  assert.ok(meant?.status === 'done' && !own, `${name} belongs to run ${run_id}, not to ${answer.run_id}`);
};

/** Checks that queued input starts in the order of acceptance, unless some of it was removed from the queue. */
const checkOrder = (
  { inputs, store, scope }: Sequence,
  thread: string,
  history: readonly Message[],
): void => {
  const places = new Map(history.map(({ content }, index) => [textOf(content), index]));
  const queued = inputs.filter(({ answer, ...input }) => {
    if (input.thread !== thread || answer?.status !== 'accepted' || answer.how !== 'queued') return false;
    return (
      places.has(input.text) && store.dispatches.get(scope, answer.dispatch_id ?? '')?.status !== 'Cancelled'
    );
  });
  for (const [index, first] of queued.entries()) {
    for (const later of queued.slice(index + 1)) {
      if ((first.answeredAt ?? Number.POSITIVE_INFINITY) > later.askedAt) continue;
      const inOrder = (places.get(first.text) ?? 0) < (places.get(later.text) ?? 0);
      assert.ok(inOrder, `${later.name} overtook ${first.name}`);
    }
  }
};

/** The read view according to its definition (runtime.md 4.1). */
const viewOf = (history: readonly Message[]): Message[] => {
  const askedBy = (at: number, id: string): number =>
    history.findLastIndex(
      ({ tool_calls }, index) => index < at && tool_calls?.some((call) => call.id === id),
    );
  const results = history.flatMap(({ tool_call_id: id, visibility, metadata }, at) =>
    id === undefined
      ? []
      : [
          {
            id,
            asked: askedBy(at, id),
            retracts: visibility === 'internal',
            refuses: metadata?.denied === true,
          },
        ],
  );
  const isRefused = (asked: number, id: string): boolean =>
    results.some((result) => result.refuses && result.asked === asked && result.id === id);
  const isRetracted = (asked: number, id: string): boolean =>
    results.some((result) => result.retracts && result.asked === asked && result.id === id);
  return history.flatMap((message, at) => {
    const { tool_call_id, tool_calls, ...rest } = message;
    if (tool_call_id !== undefined) {
      const hidden =
        message.visibility === 'internal' || isRetracted(askedBy(at, tool_call_id), tool_call_id);
      return hidden ? [] : [message];
    }
    const isEmpty = message.content.length === 0;
    if (isEmpty && tool_calls?.every(({ id }) => isRefused(at, id))) return [];
    const kept = tool_calls?.filter(
      ({ id }) => results.some((result) => result.asked === at && result.id === id) && !isRetracted(at, id),
    );
    return [kept && kept.length > 0 ? { ...rest, tool_calls: kept } : rest];
  });
};

const checkView = ({ store, scope }: Sequence, thread_id: string, history: readonly Message[]): void => {
  const all = viewOf(history);
  for (const visibility of ['all', 'external'] as const) {
    const expected = all.filter((message) => visibility === 'all' || message.visibility === undefined);
    const page = listMessages(
      { store, scope, thread_id },
      { order: 'asc', visibility },
      { offset: 0 },
      10_000,
    );
    const shown = page.rows.map(({ seq, created_at, ...message }) => message);
    assert.deepEqual(shown, expected, `${thread_id}: the view`);
    assert.equal(page.total, expected.length, `${thread_id}: the total of the view`);
  }
  for (const [index, { tool_calls = [] }] of all.entries()) {
    for (const { id } of tool_calls) {
      const answered = all.slice(index + 1).some(({ tool_call_id }) => tool_call_id === id);
      assert.ok(answered, `${thread_id}: call ${id} is shown without a result`);
    }
  }
};

/** Holds whenever nothing is being written. */
export const checkViews = (sequence: Sequence, world: World): void => {
  for (const { id, history, seqs } of world.values()) {
    assert.deepEqual(
      seqs,
      history.map((_, index) => index + 1),
      `${id}: sequence numbers`,
    );
    assert.equal(
      new Set(history.map((message) => message.id)).size,
      history.length,
      `${id}: ids of messages`,
    );
    checkView(sequence, id, history);
  }
};

/** Holds when no work is left. */
export const checkInputs = (sequence: Sequence, world: World): void => {
  for (const { id, history } of world.values()) {
    for (const input of sequence.inputs) if (input.thread === id) checkInput(sequence, history, input);
    checkOrder(sequence, id, history);
  }
};

/** Checks that every call in a prompt has exactly one result directly after it, and that there are no other results. */
const checkRequest = (name: string, messages: readonly Message[]): void => {
  let open: string[] = [];
  for (const { role, tool_calls, tool_call_id, visibility, metadata } of messages) {
    if (role === 'tool') {
      assert.ok(
        open.includes(tool_call_id ?? ''),
        `${name}: the model got a result without its call: ${tool_call_id}`,
      );
      assert.ok(visibility === undefined || metadata?.denied, `${name}: the model got a marker`);
      open = open.filter((id) => id !== tool_call_id);
      continue;
    }
    assert.deepEqual(open, [], `${name}: the model got a call without its result`);
    open = tool_calls?.map(({ id }) => id) ?? [];
  }
  assert.deepEqual(open, [], `${name}: the model got a call without its result`);
};

/** Checks that each prompt is a prefix of the history, without pending messages and in order. */
export const checkRequests = ({ steered, inputs, removals }: Sequence, world: World): void => {
  for (const { name, request } of steered.requests) {
    checkRequest(name, request.messages);
    const thread = inputs.find(({ text }) => text.startsWith(`${name.split('_')[0]}:`))?.thread;
    const history = world.get(thread ?? '')?.history;
    if (!history || removals.some((removal) => removal.thread === thread)) continue;
    const asked = history.filter(({ role }) => role === 'user').map(({ id }) => id);
    const seen = request.messages.map(({ id }) => id).filter((id) => asked.includes(id));
    assert.deepEqual(seen, asked.slice(0, seen.length), `${name}: the model saw input out of its order`);
  }
};
