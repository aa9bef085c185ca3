import type { StoredResponse } from '../../src/schema/stored-response.ts';
import type { Batch, BatchPlace, Store } from '../../src/store/index.ts';
import { auditEvent, record, ulidAt } from './config-rows.ts';
import { dispatch, event, message, run, SCOPE, threadRecord } from './records.ts';

/** Rows in every table that is shipped. */

const AT = 1_765_000_400_000;

export const PLACE: BatchPlace = { scope: SCOPE, thread_id: 't1' };

/** Rows of the thread `t1`, with its parent `t0` and `t9`, which is being removed. */
export const fillThread = (store: Store, batch: Batch): void => {
  const answer = 'an answer that is long enough to be stored once, in the row of its run';
  const links = { parent_thread_id: 't0', resource_id: 'house', expires_at: AT + 9 };
  store.threads.put(batch, SCOPE, threadRecord('t1', AT, links), undefined);
  const [open, done] = [run('r1'), run('r1', { status: 'done', final_output: answer })];
  store.runs.put(batch, SCOPE, open, undefined, AT);
  store.messages.append(batch, SCOPE, 't1', [
    { seq: 1, message: message('m1', 'r1'), created_at: 1, external: 1 },
    {
      seq: 2,
      message: { ...message('m2', 'r1'), content: [{ type: 'text', text: answer }] },
      created_at: 1,
      external: 2,
    },
  ]);
  store.runs.put(batch, SCOPE, done, open, AT + 1);
  store.events.append(batch, SCOPE, 't1', 1, [event('evt_1_1', 'r1'), event('evt_1_2', 'r1')]);
  const ended = dispatch('d1', { status: 'Acked', completed_at: AT + 5 });
  store.dispatches.put(batch, SCOPE, ended, undefined);
  store.dispatches.put(batch, SCOPE, dispatch('d2'), undefined);
  store.pending.put(batch, SCOPE, {
    pending_id: 'p1',
    thread_id: 't1',
    message: message('m3'),
    delivery_mode: { boundary: 'next_step', granularity: 'batch' },
    position: 1,
    revision: 1,
    created_at: 1,
    updated_at: 1,
  });
  store.retractions.put(batch, SCOPE, 't1', { seq: 1, call_id: 'c1' });
  store.stopped.put(batch, SCOPE, 't1', { seq: 1, run_id: 'r1', message: message('s1'), created_at: 1 });
  store.state.put(batch, SCOPE, 't1', { mood: 'calm' });
  store.pastStates.put(batch, SCOPE, 't1', 2, { thread: { a: 1 }, threadHidden: {} });
  const listed = { scope: SCOPE, thread_id: 't1', run_id: 'r1' };
  store.deadlines.put(batch, { at: AT, ...listed });
  store.awaiting.put(batch, listed);
  store.driven.put(batch, listed);
  store.tickets.put(batch, SCOPE, 't1', { ticket_id: 'k1', call_id: 'c1', ofCall: 1 });
  const place = { scope: SCOPE, task_id: 'r1', id: 'hook' };
  store.pushConfigs.put(batch, { ...place, url: 'https://hooks.example/', token: 'secret' });
  store.pushOutbox.append(batch, place, { body: '{}', attempts: 0, available_at: AT });
  store.pushOutbox.follow(batch, { place, mark: { state: 'working', timestamp: 'now' } });
  const of = { final_status: 'ok', prompt_ids: ['p'], started_at: 100, ended_at: 101 } as const;
  const summary = { run_id: 'r1', agent_id: 'a', experiment_id: 'x', variant_name: 'v', ...of };
  const head = { total: 2, created_at: 100, written_at: 100, summary: { ...summary, prompt_ids: ['p'] } };
  store.traces.write(batch, { ...head, state: 'done' }, ['one', 'two']);
  store.traces.refer(batch, 'r1', { kind: 'pin', id: 'operator' });
  store.responses.add(batch, SCOPE, response('r1', 1));
  store.transcripts.put(
    batch,
    { scope: SCOPE, chat: 'chat', agent_id: 'a', digest: 'd' },
    { thread_id: 't1', seq: 2, asked: 'q', at: AT },
  );
  store.files.keepInThread(batch, { ...FILE, thread_id: 't1' });
  fillShared(store, batch);
};

const FILE = {
  scope: SCOPE,
  sha256: 'ab'.repeat(32),
  bytes: 3,
  filename: 'a.txt',
  media_type: 'text/plain',
  created_at: AT,
};

export const response = (run_id: string, leg: number): StoredResponse => {
  const of = { run_id, thread_id: 't1', leg, status: 'completed', created_at: AT, from_seq: 0 } as const;
  // The echo of a request is not read by the store.
  return {
    ...of,
    inputs: [],
    items: [],
    calls: 0,
    events: [],
    next: 1,
    reserved: 1,
    echo: {} as StoredResponse['echo'],
  };
};

/** Rows that are not part of a thread, although a commit of one writes them. */
const fillShared = (store: Store, batch: Batch): void => {
  const key = { scope: SCOPE, caller: 'me', key: 'once' };
  const row = { ...key, fingerprint: 'f', accepted_at: AT, answer: { status: 200, body: {} } };
  // The answer is not read by the store.
  store.idempotency.put(batch, { row: row as never, visible() {} });
  store.received.put(batch, SCOPE, 'print', { task_id: 'r1', message_id: 'm1', accepted_at: AT });
  const amounts = { runs: 1, inferences: 1, input_tokens: 5, output_tokens: 7, nano_usd: 9 };
  store.usage.add(batch, { scope: SCOPE, day: '2025-12-06', user: 'u', agent: 'a', model: 'm' }, amounts);
  const window = { budget: 'b', identity: 'i', from: AT, combination: 'c' };
  store.budgetCounters.put(batch, { ...window, tokens: 5, nano_usd: 9, ended_at: AT + 1 });
};

export const fillCommons = (store: Store, batch: Batch): void => {
  const user = {
    id: 'alice',
    scope: SCOPE,
    kind: 'person',
    created_at: 1,
    disabled: false,
    tokens_not_before: 0,
    grants: [],
    token_grants: [],
    identity: { issuer: 'https://idp.example', subject: 'alice' },
    folded: 'alice',
    token_iat: 0,
  };
  store.users.put(batch, user as never, undefined);
  store.users.putSeen(batch, SCOPE, 'alice', AT);
  const key = { id: 'key-1', name: 'k', scope: SCOPE, user: 'alice', digest: 'digest', line: 'key-1' };
  const times = { created_at: 1, created_by: '~admin', expires_at: AT, revoked_at: null };
  store.keys.put(batch, { ...key, ...times, grants: [], first: false } as never);
  store.credentials.put(batch, 'digest', { kind: 'key', id: 'key-1' });
  store.keys.putUse(batch, 'key-1', { at: AT, ip: '::1' });
  const session = { id: 's1', scope: SCOPE, user: 'alice', digest: 'other', source: 'key', user_agent: null };
  store.sessions.put(batch, { ...session, ip: '::1', created_at: AT, expires_at: AT + 5 } as never);
  store.credentials.put(batch, 'other', { kind: 'session', id: 's1' });
  store.sessions.putUse(batch, 's1', { at: AT, ip: '::1' });
  store.blobs.put(batch, FILE.sha256, Buffer.from('abc'));
  store.files.put(batch, { ...FILE, id: 'file-1', purpose: 'vision', expires_at: AT + 4 });
  const model = record('m1');
  store.config.put(batch, model);
  store.config.put(batch, { ...record('m2'), published: { revision: 1, spec: model.spec } as never });
  store.documents.put(batch, 'assistant', { policy: 'kind' });
  store.agentDrafts.put(batch, 'support', { id: 'support' });
  store.audit.put(batch, auditEvent(ulidAt(AT, 1), { after: { id: 'a' } }));
  const value = { id: 'm1', kind: 'model' };
  const version = { kind: 'model', id: 'm1', version: 1, hash: 'h', value };
  store.publications.put(
    batch,
    {
      publication_id: 'p1',
      scope_id: SCOPE,
      snapshot_version: 1,
      created_by: 'me',
      created_at_ms: AT,
      entries: [{ kind: 'model', id: 'm1', version: 1 }],
      source_config_revisions: [{ namespace: 'models', id: 'm1', revision: 1 }],
      metadata: {},
    } as never,
    [version as never],
  );
  const meta = {
    source: { kind: 'user' },
    hidden: false,
    created_at: 1,
    updated_at: 1,
    revision: 1,
  } as const;
  const fixtures = [{ id: 'f1' }, { id: 'f2' }] as never;
  store.datasets.put(batch, 'set', { spec: { description: 'two', fixtures }, meta });
  const run = { id: 'e1', scope: SCOPE, dataset_id: 'set', dataset_revision: 1, execution_mode: 'replay' };
  const counts = { planned_item_count: 1, item_count: 0, passed_count: 0, started_at_secs: 5 };
  const head = { ...run, ...counts, status: 'running', ended_at_secs: undefined };
  store.evalRuns.put(batch, head as never, undefined);
  store.evalRuns.putItem(batch, 'e1', 0, { fixture_id: 'f1' } as never);
  store.evalRuns.putWork(batch, 'e1', 'work');
  store.accessEvents.put(batch, {
    id: ulidAt(AT, 2),
    ts: 'now',
    kind: 'denied',
    scope: SCOPE,
    user: 'alice',
    ip: '::1',
    count: 1,
  });
  store.accessEvents.putAdminSeen(batch, '::1', AT);
  const account = { scope: SCOPE, user: 'alice', server: 'mcp' };
  const server = { issuer: 'https://as.example', resource: 'https://mcp.example' };
  const connection = {
    url: 'https://mcp.example',
    state: 'connected',
    scopes: [],
    connected_at: AT,
  } as const;
  store.connections.put(batch, { ...account, ...server, ...connection, scopes: [], secrets: { token: 's' } });
  const authorization = { id: 'a1', ...account, ...server, state: 'offered', scopes: [], offered_at: AT };
  store.authorizations.put(batch, { ...authorization, started: undefined } as never);
  const catalog = { server: 'mcp', url: 'https://mcp.example', tools: [], unusable: [], listed_at: AT };
  store.mcpCatalogs.put(batch, catalog);
};

export const fillMember = (store: Store, batch: Batch): void => {
  store.runtimeStats.put(batch, { agent: 'a', from: 5, seconds: 60, error_count: 0 } as never);
};
