import type { Mailer } from '../../loop/background.ts';
import { NotFound } from '../../schema/outcome.ts';
import type { Run } from '../../schema/run.ts';
import type { ThreadRecord } from '../../store/index.ts';
import type { Address } from '../../tools/tasks.ts';
import type { RuntimeDeps } from '../deps.ts';
import type { Accepted, Submission } from '../thread/submission.ts';

/**
 * Messages from one thread to another (agent-loop.md 16). A message becomes a run on the target thread whose id derives
 * from the message id, so a second delivery of the same message finds that run and does nothing.
 */

/** Access to other threads. */
export type Peers = {
  record(scope: string, thread_id: string): ThreadRecord | undefined;
  submit(scope: string, thread_id: string, submission: Submission): Promise<Accepted>;
};

type From = { scope: string; thread_id: string; run: Run };

type MailDeps = Pick<RuntimeDeps, 'store' | 'ids' | 'resolve'>;

export const createMail = (deps: MailDeps, peers: Peers, { scope, thread_id, run }: From): Mailer => {
  const { ids, resolve, store } = deps;

  /** Returns the most recently used thread of an agent. */
  const findChild = (name: string): string | undefined =>
    store.threads
      .children(scope, thread_id)
      .flatMap((id) => peers.record(scope, id) ?? [])
      .filter((record) => record.agent_id === name || record.thread.id === name)
      .sort((a, b) => (b.thread.metadata.updated_at ?? 0) - (a.thread.metadata.updated_at ?? 0))[0]?.thread
      .id;

  const findParent = (): string | undefined =>
    run.activation?.trace.parent_thread_id ?? peers.record(scope, thread_id)?.thread.parent_thread_id;

  return {
    address(to) {
      const target =
        to.relation === 'parent' ? findParent() : to.relation === 'child' ? findChild(to.name) : to.thread_id;
      const record = target === undefined ? undefined : peers.record(scope, target);
      if (!record) return { error: 'recipient_not_found' };
      const named = to.relation === 'agent' ? to.agent_id : undefined;
      const agent_id = named ?? record.agent_id ?? 'default';
      try {
        resolve(agent_id);
      } catch {
        return { error: 'recipient_unavailable' };
      }
      return { message_id: ids.uuid(), thread_id: record.thread.id, agent_id } satisfies Address;
    },
    async deliver(message) {
      if (!peers.record(scope, message.thread_id)) {
        throw new NotFound(`recipient_not_found: thread '${message.thread_id}'`);
      }
      await peers.submit(scope, message.thread_id, {
        mode: 'queue',
        run_id: `durable-msg-${message.message_id}`,
        agent: resolve(message.agent_id),
        named: true,
        messages: [
          {
            role: 'user',
            content: [{ type: 'text', text: message.text }],
            sender_agent_id: message.sender_agent_id,
          },
        ],
        origin: 'internal',
        adapter: 'internal',
      });
    },
  };
};
