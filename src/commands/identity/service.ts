import type { Command } from 'commander';
import { z } from 'zod';
import { ApiKeyList, CreatedKey } from '../../schema/api-key.ts';
import { Invalid } from '../../schema/outcome.ts';
import { Thread, ThreadSummaryList } from '../../schema/thread.ts';
import { User, UserList } from '../../schema/user.ts';
import { type AdminClient, addressed, connectAdmin } from '../admin-client.ts';
import type { IdentityService, OwnerlessThreads, ServiceOptions } from './api.ts';
import { openFolder } from './folder.ts';

export const reaching = (command: Command): Command =>
  addressed(command)
    .option('--of-scope <scope>', 'scope of the users and keys; default: that of the credential')
    .option('--offline', 'work on the data directory of a stopped service')
    .option('--storage-dir <folder>', 'with --offline: the data directory')
    .option('--settings-file <file>', 'with --offline: settings file that names it');

/** Calls `work` with the service, and closes it afterwards. */
export const withIdentity = async (
  options: ServiceOptions,
  work: (service: IdentityService) => Promise<void>,
): Promise<void> => {
  const service = options.offline ? await openFolder(options) : connect(options);
  try {
    await work(service);
  } finally {
    await service.close();
  }
};

const connect = (options: ServiceOptions): IdentityService => {
  const { ask } = connectAdmin(options);
  const { ofScope } = options;
  const scoped = ofScope === undefined ? '' : `?of_scope=${encodeURIComponent(ofScope)}`;
  return {
    createKey: (body) => ask('POST', ['v1', 'keys'], { body, schema: CreatedKey }),
    keys: () => everyPage((query) => ask('GET', ['v1', 'keys'], { query, schema: ApiKeyList }), ofScope),
    rotateKey: (id, grace_secs) =>
      ask('POST', ['v1', 'keys', id, 'rotate'], { body: { grace_secs }, schema: CreatedKey }),
    revokeKey: (id, { cancelRuns }) =>
      ask('DELETE', ['v1', 'keys', id], { query: cancelRuns ? '?runs=cancel' : '', schema: z.undefined() }),
    users: () => everyPage((query) => ask('GET', ['v1', 'users'], { query, schema: UserList }), ofScope),
    user: (id) => ask('GET', ['v1', 'users', id], { query: scoped, schema: User }),
    changeUser: (id, body) => ask('PATCH', ['v1', 'users', id], { query: scoped, body, schema: User }),
    ownerless: ownerlessIn(ask, ofScope),
    async close() {},
  };
};

const ownerlessIn = (ask: AdminClient['ask'], ofScope: string | undefined): OwnerlessThreads => {
  const thread = (id: string) => ['v1', 'threads', id];
  return {
    async withResource() {
      if (ofScope !== undefined)
        throw new Invalid(
          '--of-scope: threads are those of the credential; give a key of that scope, or --offline',
        );
      const listed = await everyPage(
        (query) =>
          ask('GET', ['v1', 'threads', 'summaries'], {
            query: `${query}&root=true`,
            schema: ThreadSummaryList,
          }),
        undefined,
      );
      const found: { id: string; resource_id: string }[] = [];
      for (const { id, resource_id } of listed) {
        if (resource_id === null) continue;
        // Summaries have no owner.
        const { owner } = await ask('GET', thread(id), { schema: Thread });
        if (owner === undefined) found.push({ id, resource_id });
      }
      return found;
    },
    async give(id, owner) {
      await ask('PATCH', thread(id), { body: { owner }, schema: Thread });
    },
  };
};

const everyPage = async <Item>(
  read: (query: string) => Promise<{ items: Item[]; next_cursor: string | null }>,
  ofScope: string | undefined,
): Promise<Item[]> => {
  const all: Item[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const query = new URLSearchParams({
      limit: '200',
      ...(cursor !== '' && { cursor }),
      ...(ofScope !== undefined && { of_scope: ofScope }),
    });
    const page = await read(`?${query}`);
    all.push(...page.items);
    cursor = page.next_cursor;
  }
  return all;
};
