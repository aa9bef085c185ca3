import t from 'tap';
import {
  baseOf,
  checkPartitionOf,
  isListOfPartitions,
  listsWith,
  ownedIn,
  ownerOf,
  partitionOf,
  sharedIn,
} from '../../src/schema/partition.ts';
import { idInUid, uidOf } from '../../src/schema/thread-uid.ts';
import fc from '../random.ts';

/** identity.md 1.3 and 1.4: partitions of a scope by owner. */

const name = fc.string({
  minLength: 1,
  maxLength: 12,
  unit: fc.constantFrom('a', '~', '%', '7', 'E', '2', '5'),
});
const scopes = name.filter((text) => !text.startsWith('~'));

t.test('a partition names its scope and its owner, and no list', async (t) => {
  fc.assert(
    fc.property(scopes, name, (scope, user) => {
      const partition = partitionOf({ scope, user });
      t.equal(baseOf(partition), scope);
      t.equal(ownerOf(partition), user);
      t.notOk(isListOfPartitions(partition));
      t.ok([ownedIn(scope), sharedIn(scope)].every(isListOfPartitions));
    }),
  );
});

t.test('different scopes and owners have different partitions and lists', async (t) => {
  fc.assert(
    fc.property(scopes, name, scopes, name, (scope, user, otherScope, otherUser) => {
      const names = [partitionOf({ scope, user }), scope, ownedIn(scope), sharedIn(scope)];
      const others = [
        partitionOf({ scope: otherScope, user: otherUser }),
        otherScope,
        ownedIn(otherScope),
        sharedIn(otherScope),
      ];
      t.equal(new Set(names).size, 4);
      if (scope !== otherScope) t.notOk(names.some((each) => others.includes(each)));
      if (user !== otherUser) t.not(names[0], others[0]);
    }),
  );
});

t.test('threads without an owner are in their scope, and in no list of owners', async (t) => {
  t.equal(partitionOf({ scope: 'acme', user: undefined }), 'acme');
  t.equal(ownerOf('acme'), undefined);
  t.strictSame(listsWith('acme', false), ['acme']);
  t.strictSame(listsWith('acme', true), ['acme', sharedIn('acme')]);
});

t.test('a uid is the id that the service made, or contains the name', async (t) => {
  const alice = partitionOf({ scope: 'acme', user: 'alice' });
  const bob = partitionOf({ scope: 'acme', user: 'bob' });
  const made = '01900000-0000-7000-8000-000000000001';
  t.equal(uidOf(alice, made), made);
  t.equal(uidOf('acme', 't1'), undefined);
  t.not(uidOf(alice, 't1'), uidOf(bob, 't1'));
  t.equal(idInUid(uidOf(alice, 'a~b') ?? ''), 'a~b');
  t.equal(idInUid('t1'), undefined);
});

t.test('a user id that is too long for its scope is refused', async (t) => {
  checkPartitionOf({ scope: 'a'.repeat(512), user: undefined });
  checkPartitionOf({ scope: 'a'.repeat(254), user: 'b'.repeat(256) });
  for (const of of [
    { scope: 'a'.repeat(255), user: 'b'.repeat(256) },
    { scope: 'acme', user: '%'.repeat(170) },
  ]) {
    t.throws(() => checkPartitionOf(of), { message: /too long for its scope/ });
  }
});
