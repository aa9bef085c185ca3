import type { Accept } from '../../schema/idempotency.ts';
import { descendants } from '../../schema/lineage.ts';
import { Conflict, Invalid, NotFound } from '../../schema/outcome.ts';
import { isShared, type Thread, type Visibility } from '../../schema/thread.ts';
import type { Store, ThreadRecord } from '../../store/index.ts';
import type { RuntimeDeps } from '../deps.ts';
import { commit } from '../ledger/commit.ts';
import { threadFacts } from '../ledger/event-payloads.ts';
import { refuseExcess } from '../ledger/history-bytes.ts';
import { loadHistory } from '../ledger/history-loading.ts';
import { quiet } from '../ledger/ledger.ts';
import {
  acceptKeyed,
  appendMessages,
  changeThread,
  createThread,
  logEvent,
  openWrite,
  type Write,
} from '../ledger/transaction.ts';
import { detach, erase, expire, expireAt, type ThreadExpiry } from './expiry.ts';
import { type ForkRequest, forkThread } from './fork.ts';
import type { ChildStrategy } from './request-types.ts';
import { deleteThread } from './requests.ts';
import { retractMessage } from './retract.ts';
import type { Thread as ThreadActor } from './state.ts';
import type { ImportedMessage } from './submission.ts';
import type { Supervisor } from './supervisor.ts';
import { type TransferListener, type TransferRequest, transferThread } from './transfer.ts';

/** Creates, changes and deletes threads (runtime.md 3). Changes of a thread use the ledger of its actor. */

export type NewThread = { title?: string; resource_id?: string; parent_thread_id?: string };

/** `undefined` leaves a field unchanged, `null` clears it. */
export type ThreadPatch = {
  title?: string;
  resource_id?: string | null;
  parent_thread_id?: string | null;
  custom?: NonNullable<Thread['metadata']['custom']>;
  visibility?: Visibility;
};

export type AddedMessages = {
  messages: readonly ImportedMessage[];
  /** Only for a new thread. */
  custom?: NonNullable<Thread['metadata']['custom']>;
};

/** A thread with appended messages, whose numbers follow `after` up to `last`. */
export type Appended = { thread: Thread; after: number; last: number };

export type Threads = {
  create(scope: string, input: NewThread, keyed?: Accept<Thread>): Promise<Thread>;
  update(scope: string, id: string, patch: ThreadPatch): Promise<Thread>;
  /** Creates a thread with the history of another one. @throws Invalid, NotFound, Conflict, TooLarge */
  fork(request: ForkRequest): Promise<Thread>;
  /**
   * Appends messages without a run; creates the thread if it does not exist. @throws Conflict if a run is open, TooLarge
   */
  append(scope: string, id: string, added: AddedMessages, keyed?: Accept<Appended>): Promise<Appended>;
  /** Gives a thread, with all threads below it, to another owner. @throws NotFound, Conflict */
  transfer(request: TransferRequest): Promise<Thread>;
  /** Calls the listener before threads are given to another owner. */
  onTransfer(listener: TransferListener): void;
  /** Hides a message from readers and the model. @throws NotFound; Conflict if a run is open */
  retract(scope: string, id: string, message_id: string): Promise<void>;
  /**
   * Deletes an expired thread with its runs, events and traces; threads below it are detached. A thread with an open run
   * expires later.
   */
  expire(scope: string, id: string): Promise<void>;
  /** Lets a thread expire, unless it has had another run since, or expires already. */
  expireAt(scope: string, id: string, expiry: ThreadExpiry): Promise<void>;
  /** Deletes a thread without an open run, with its runs, events and traces; threads below it are detached. */
  erase(scope: string, id: string): Promise<void>;
  /** Descendants that the caller does not see are detached. @throws Invalid, NotFound, and what `check` throws */
  remove(scope: string, id: string, strategy: ChildStrategy, caller?: Remover): Promise<void>;
};

/** The rights of a caller on the descendants of a thread that it deletes. */
export type Remover = {
  sees(id: string): boolean;
  /** @throws Forbidden if the caller may not delete a thread that it sees */
  check(id: string): void;
};

/** The service itself sees and deletes everything. */
const PROGRAM: Remover = { sees: () => true, check() {} };

type Deps = Pick<RuntimeDeps, 'clock' | 'ids' | 'store' | 'observe' | 'log' | 'events'>;
type ThreadsDeps = Deps & { supervisor: Supervisor };

export function createThreads(
  { clock, ids, store, observe, log, events }: Deps,
  supervisor: Supervisor,
): Threads {
  const deps: ThreadsDeps = { clock, ids, store, observe, log, events, supervisor };
  const listeners = new Set<TransferListener>();
  return {
    create: (scope, input, keyed) => create(deps, scope, input, keyed),
    fork: (request) => forkThread(deps, request),
    transfer: (request) => transferThread({ ...deps, listeners }, request),
    onTransfer: (listener) => void listeners.add(listener),
    update: (scope, id, patch) => supervisor.reach(scope, id, (thread) => update(deps, thread, patch)),
    append: (scope, id, added, keyed) =>
      supervisor.reach(scope, id, (thread) => append(deps, thread, { added, keyed })),
    retract: (scope, id, message_id) =>
      supervisor.reach(scope, id, (thread) => retractMessage(deps, thread, message_id)),
    expire: (scope, id) => supervisor.use(scope, id, (thread) => expire(deps, thread)),
    expireAt: (scope, id, expiry) => supervisor.reach(scope, id, (thread) => expireAt(deps, thread, expiry)),
    erase: (scope, id) => supervisor.use(scope, id, (thread) => erase(deps, thread)),
    remove: (scope, id, strategy, caller = PROGRAM) =>
      supervisor.reach(scope, id, (thread) => remove(deps, thread, strategy, caller)),
  };
}

async function create(
  { clock, ids, supervisor }: ThreadsDeps,
  scope: string,
  { title, resource_id, parent_thread_id }: NewThread,
  keyed: Accept<Thread> | undefined,
): Promise<Thread> {
  const id = ids.uuid();
  const parent = parent_thread_id && checkedParent(supervisor, scope, id, parent_thread_id);
  return supervisor.reach(scope, id, async ({ ledger }) => {
    const write = openWrite(ledger, clock.now());
    const thread: Thread = {
      id,
      ...(resource_id !== undefined && { resource_id }),
      ...(parent !== undefined && { parent_thread_id: parent }),
      metadata: { created_at: write.at, updated_at: write.at, ...(title !== undefined && { title }) },
    };
    const created = createThread(write, thread);
    acceptKeyed(write, keyed, created);
    await commit(write, 'input');
    return created;
  });
}

async function append(
  { clock, ids }: ThreadsDeps,
  { id, ledger, deps }: ThreadActor,
  { added: { messages, custom }, keyed }: { added: AddedMessages; keyed: Accept<Appended> | undefined },
): Promise<Appended> {
  await loadHistory(ledger);
  const { open_run_id, active_run_id } = ledger.record?.thread ?? {};
  if (open_run_id !== undefined || active_run_id !== undefined || ledger.created.size > 0)
    throw new Conflict(`thread '${id}' has an open run: messages can be appended when it has ended`);
  refuseExcess(ledger, messages, deps.settings.thread_limit_bytes);
  const write = openWrite(ledger, clock.now());
  const metadata = { created_at: write.at, updated_at: write.at, ...(custom && { custom }) };
  const created = ledger.record?.thread ?? createThread(write, { id, metadata });
  const after = ledger.tail.seq;
  appendMessages(
    write,
    messages.map((message) => ({ id: ids.uuid(), ...message })),
    undefined,
  );
  changeThread(write, (each) => each);
  const appended = { thread: ledger.record?.thread ?? created, after, last: ledger.tail.seq };
  acceptKeyed(write, keyed, appended);
  await commit(write, 'input');
  return appended;
}

async function update(
  { clock, store, supervisor }: ThreadsDeps,
  { scope, id, ledger }: ThreadActor,
  patch: ThreadPatch,
): Promise<Thread> {
  // The runs are moved between lists by their stored records.
  if (patch.visibility !== undefined) await quiet(ledger);
  const before = existing(supervisor, scope, id);
  if (patch.parent_thread_id) checkedParent(supervisor, scope, id, patch.parent_thread_id);
  const write = openWrite(ledger, clock.now());
  changeThread(write, (thread) => patched(thread, patch));
  const after = ledger.record?.thread ?? before.thread;
  const { resource_id, parent_thread_id, title, updated_at } = threadFacts(before.thread);
  const facts = { ...threadFacts(after), previous: { resource_id, parent_thread_id, title, updated_at } };
  logEvent(write, 'ThreadUpdated', facts, { correlation_id: id, origin: 'server' });
  if (isShared(after) !== isShared(before.thread)) relistRuns(store, write);
  // A thread with another resource is no longer part of its chat.
  if (after.resource_id !== resource_id) store.transcripts.removeAll(write.batch, scope, before.thread);
  await commit(write, 'input');
  return after;
}

/** Moves the runs of a thread to the lists of its new visibility. */
function relistRuns({ runs }: Pick<Store, 'runs'>, { ledger, batch, at }: Write): void {
  const { scope, id, record } = ledger;
  const shared = record !== undefined && isShared(record.thread);
  for (const run of runs.ofThread(scope, id)) runs.put(batch, scope, run, run, at, shared);
}

async function remove(
  deps: ThreadsDeps,
  thread: ThreadActor,
  strategy: ChildStrategy,
  { sees, check }: Remover,
): Promise<void> {
  const { store, supervisor } = deps;
  const { scope, id } = thread;
  existing(supervisor, scope, id);
  if (strategy === 'reject' && store.threads.children(scope, id).some(sees)) {
    throw new Invalid(`thread '${id}' has child threads; choose 'detach' or 'cascade'`);
  }
  const childrenOf = (above: string): string[] => store.threads.children(scope, above);
  const below = strategy === 'cascade' ? descendants((above) => childrenOf(above).filter(sees), id) : [];
  for (const each of below) check(each);
  const doomed = new Set(below);
  const orphans = [id, ...below].flatMap(childrenOf).filter((child) => !doomed.has(child));
  await Promise.all([
    deleteThread(thread, strategy),
    ...below.map((each) => supervisor.reach(scope, each, (child) => removeIfThere(child, strategy))),
    ...orphans.map((child) => detach(deps, scope, child)),
  ]);
}

/** Returns the parent. @throws Invalid */
function checkedParent(supervisor: Supervisor, scope: string, child: string, parent: string): string {
  checkLineage((id) => supervisor.record(scope, id), child, parent);
  return parent;
}

const removeIfThere = async (thread: ThreadActor, strategy: ChildStrategy): Promise<void> => {
  if (thread.ledger.record) await deleteThread(thread, strategy);
};

const existing = (supervisor: Supervisor, scope: string, id: string): ThreadRecord => {
  const record = supervisor.record(scope, id);
  if (!record) throw new NotFound(`thread not found: ${id}`);
  return record;
};

const patched = (thread: Thread, patch: ThreadPatch): Thread => {
  const { resource_id, parent_thread_id, ...rest } = thread;
  const resource = patch.resource_id === undefined ? resource_id : patch.resource_id;
  const parent = patch.parent_thread_id === undefined ? parent_thread_id : patch.parent_thread_id;
  const custom = { ...thread.metadata.custom, ...patch.custom };
  return {
    ...rest,
    ...(resource && { resource_id: resource }),
    ...(parent && { parent_thread_id: parent }),
    ...(patch.visibility !== undefined && { visibility: patch.visibility }),
    metadata: {
      ...thread.metadata,
      ...(patch.title !== undefined && { title: patch.title }),
      ...(Object.keys(custom).length > 0 && { custom }),
    },
  };
};

/** A parent must exist, must not be the thread itself, and must not be below it. */
const checkLineage = (
  find: (id: string) => ThreadRecord | undefined,
  child: string,
  parent: string,
): void => {
  if (child === parent) throw new Invalid(`thread '${child}' cannot parent itself`);
  let ancestor = find(parent);
  if (!ancestor) throw new Invalid(`parent thread not found: ${parent}`);
  const seen = new Set([child]);
  while (ancestor) {
    const { id, parent_thread_id } = ancestor.thread;
    if (seen.has(id)) throw new Invalid(`thread hierarchy cycle detected at '${id}'`);
    seen.add(id);
    if (parent_thread_id === undefined) return;
    ancestor = find(parent_thread_id);
    if (!ancestor) throw new Invalid(`thread hierarchy references missing ancestor '${parent_thread_id}'`);
  }
};
