import t, { type Test } from 'tap';
import { may, type Principal } from '../../src/schema/principal.ts';
import type { Reader } from '../../src/schema/reader.ts';
import { ADMIN, IP, type Opened, openIdentity } from './open.ts';

/** Readers end with the rights of their principals: identity.md 1.5. */

type Key = { id: string; principal: Principal };

const withKey = async (t: Test, grants = ['member']): Promise<{ opened: Opened; key: Key }> => {
  const opened = await openIdentity(t);
  t.teardown(() => opened.readers.close());
  return { opened, key: await keyFor(opened, 'bob', { new_user: { kind: 'person', grants } }) };
};

const keyFor = async ({ keys, judge }: Opened, user: string, more: object = {}): Promise<Key> => {
  const { key, id } = await keys.create(ADMIN, { name: user, user, ...more });
  return { id, principal: judge(key, IP) };
};

type Watched = { ended: number; judged: number; leave(): void };

/** Adds a reader that needs `invoke`. */
const watch = ({ readers }: Opened, principal: Principal, more: Partial<Reader> = {}): Watched => {
  const watched: Watched = { ended: 0, judged: 0, leave() {} };
  watched.leave = readers.add({
    principal,
    endsWithCredential: true,
    isAllowed(present) {
      watched.judged += 1;
      return may(present, ['invoke', 'support']);
    },
    end() {
      watched.ended += 1;
    },
    ...more,
  });
  return watched;
};

t.test('judges only the readers that a change affects', async (t) => {
  const { opened, key } = await withKey(t);
  const other = await keyFor(opened, 'carol', { new_user: { kind: 'person', grants: ['member'] } });
  const second = await keyFor(opened, 'bob');
  const [bob, carol, again] = [key, other, second].map(({ principal }) => watch(opened, principal));
  await opened.keys.revoke(ADMIN, key.id);
  t.strictSame([bob?.ended, carol?.ended, again?.ended], [1, 0, 0]);
  await opened.users.update(ADMIN, 'bob', { grants: ['read:all'] });
  t.strictSame([bob?.ended, carol?.ended, again?.ended], [1, 0, 1], 'each ends once');
  t.equal(carol?.judged, 0);
});

t.test('judges a reader whose user has changed while its request was processed', async (t) => {
  const { opened, key } = await withKey(t);
  await opened.users.update(ADMIN, 'bob', { disabled: true });
  t.equal(watch(opened, key.principal).ended, 1);
});

t.test('does not judge a reader that was removed', async (t) => {
  const { opened, key } = await withKey(t);
  const watched = watch(opened, key.principal);
  watched.leave();
  await opened.keys.revoke(ADMIN, key.id);
  t.strictSame([watched.judged, watched.ended], [0, 0]);
});

t.test('judges the readers of a thread when its visibility changes', async (t) => {
  const { opened, key } = await withKey(t);
  const thread = { scope: '~acme~alice', id: 'T' };
  let isShared = true;
  const watched = watch(opened, key.principal, { thread, isAllowed: () => isShared });
  const elsewhere = watch(opened, key.principal, {
    thread: { ...thread, id: 'U' },
    isAllowed: () => isShared,
  });
  isShared = false;
  opened.readers.sharingChanged(thread);
  t.strictSame([watched.ended, elsewhere.ended], [1, 0]);
});

t.test('ends the readers of end users with the key that acts for them', async (t) => {
  const { opened, key } = await withKey(t, ['act', 'member']);
  const endUser = await opened.actFor(key.principal, 'customer');
  const watched = watch(opened, endUser);
  await opened.users.update(ADMIN, 'customer', { name: 'Customer' });
  t.strictSame([watched.judged, watched.ended], [1, 0]);
  await opened.keys.revoke(ADMIN, key.id);
  t.equal(watched.ended, 1);
});
