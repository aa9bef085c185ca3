import t from 'tap';
import { KeyChange, NewKey } from '../../src/schema/api-key.ts';
import {
  allows,
  authorizes,
  commonGrants,
  firstBeyond,
  firstServiceGrant,
  type GrantWord,
  grantOf,
  names,
  parseGrants,
  parseTokenGrants,
  unite,
  withoutServiceGrants,
} from '../../src/schema/grants.ts';
import { NewUser, UserChange } from '../../src/schema/user.ts';
import fc from '../random.ts';

const cases: [grants: string[], word: GrantWord, values: string[], allowed: boolean][] = [
  [['member'], 'invoke', ['support'], true],
  [['member'], 'read', ['own'], true],
  [['member'], 'read', ['all'], false],
  [['member'], 'decide', ['support', 'send_mail'], true],
  [['member'], 'keys', [], false],
  [['viewer'], 'read', ['all'], true],
  [['viewer'], 'invoke', ['support'], false],
  [['operator'], 'write', ['all'], true],
  [['operator'], 'read', ['all'], true],
  [['invoke:support'], 'invoke', ['support'], true],
  [['invoke:support'], 'invoke', ['billing'], false],
  [['invoke:sup*'], 'invoke', ['support'], true],
  [['invoke:support'], 'read', ['own'], true],
  [['invoke:a%20b'], 'invoke', ['a b'], true],
  [['invoke:a%5C*'], 'invoke', ['a*'], true],
  [['invoke:a%5C*'], 'invoke', ['ab'], false],
  [['decide:*/get_*'], 'decide', ['support', 'get_weather'], true],
  [['decide:*/get_*'], 'decide', ['support', 'send_mail'], false],
  [['decide:billing/*'], 'decide', ['billing', 'mcp/pay'], true],
  [['configure'], 'configure', ['agents'], true],
  [['configure'], 'configure', ['mcp-servers'], false],
  [['configure:*'], 'configure', ['mcp-servers'], false],
  [['configure:mcp-*'], 'configure', ['mcp-servers'], false],
  [['configure:mcp-servers'], 'configure', ['mcp-servers'], true],
  [['configure:agents'], 'observe', [], true],
  [['evaluate'], 'observe', [], true],
  [['observe'], 'evaluate', [], false],
  [['admin'], 'configure', ['mcp-servers'], true],
  [['admin'], 'read', ['all'], true],
  [[], 'read', ['own'], false],
];
for (const [grants, word, values, allowed] of cases) {
  t.test(`[${grants}] ${allowed ? 'allows' : 'does not allow'} ${word} ${values.join('/')}`, async (t) => {
    t.equal(allows(parseGrants(grants), word, ...values), allowed);
  });
}

t.test('a grant has a word whatever its pattern is about', async (t) => {
  t.ok(names(parseGrants(['invoke:support']), 'invoke'));
  t.ok(names(parseGrants(['configure:mcp-servers']), 'configure'));
  t.notOk(names(parseGrants(['viewer']), 'invoke'));
});

for (const [text, message] of [
  ['fly', /grants\[1\] 'fly' is unknown: allowed are invoke, read, .*operator/],
  ['keys:x', /'keys' has no pattern/],
  ['read:some', /'read' is read:own or read:all/],
  ['write:own', /'write' is write:all/],
  ['decide:x', /'decide' is decide:<agent>\/<tool>/],
  ['invoke:', /pattern is empty/],
  ['invoke:a%', /percent-encoding is broken/],
  ['invoke:%00', /control characters are not allowed/],
  ['invoke:a%5C', /dangling escape/],
] as const) {
  t.test(`'${text}' is refused on write and ignored in tokens`, async (t) => {
    t.throws(() => parseGrants(['member', text]), { message });
    t.same(parseTokenGrants(['keys', text]).texts, ['keys']);
  });
}

t.test('each layer of an authority narrows the others', async (t) => {
  const authority = [parseGrants(['member']), parseGrants(['invoke:support', 'admin'])];
  t.ok(authorizes(authority, 'invoke', 'support'));
  t.notOk(authorizes([parseGrants(['member']), parseGrants(['invoke:support'])], 'invoke', 'billing'));
  t.notOk(authorizes(authority, 'admin'));
  t.notOk(authorizes([], 'invoke', 'support'));
});

const pairs: [grant: string, agent: string, tool: string, isAllowed: boolean][] = [
  ['decide:team%2Fsupport/*', 'team/support', 'send', true],
  ['decide:team\\/support/*', 'team/support', 'send', true],
  ['decide:team%5C/support/*', 'team/support', 'send', true],
  ['decide:team%5c%2fsupport/*', 'team/support', 'send', true],
  ['decide:team%2F*/send', 'team/support', 'send', true],
  ['decide:team%2Fsupport/*', 'team', 'support/send', false],
  ['decide:team/support/*', 'team', 'support/send', true],
  ['decide:team/support/*', 'team/support', 'send', false],
  ['decide:a\\\\/b', 'a\\', 'b', true],
  ['decide:*/*', 'team/support', 'a/b', true],
];
for (const [grant, agent, tool, isAllowed] of pairs) {
  t.test(`'${grant}' ${isAllowed ? 'allows' : 'does not allow'} '${tool}' of '${agent}'`, async (t) => {
    t.equal(allows(parseGrants([grant]), 'decide', agent, tool), isAllowed);
  });
}

t.test('the grant of an act allows this act only, and survives being written out', async (t) => {
  const id = fc.string({
    unit: fc.constantFrom('a', '/', '*', '\\', '%', ' ', '"', 'é', '%2F'),
    minLength: 1,
  });
  fc.assert(
    fc.property(id, id, id, (agent, tool, other) => {
      const text = grantOf('decide', agent, tool);
      t.match(text, /^[\x21\x23-\x5b\x5d-\x7e]+$/, 'is an OAuth scope');
      const [written = ''] = commonGrants([parseGrants([text])]);
      for (const grant of [text, written]) {
        t.ok(allows(parseGrants([grant]), 'decide', agent, tool), grant);
        t.equal(allows(parseGrants([grant]), 'decide', other, tool), other === agent, grant);
        t.equal(allows(parseGrants([grant]), 'decide', agent, other), other === tool, grant);
      }
      t.ok(allows(parseGrants([grantOf('invoke', agent)]), 'invoke', agent));
    }),
  );
});

const gifts: [has: string[], gives: string[], beyond: string | undefined][] = [
  [['member'], ['invoke:support'], undefined],
  [['invoke:sup*'], ['invoke:support'], undefined],
  [['invoke:sup*'], ['invoke:supp*'], undefined],
  [['invoke:sup*'], ['invoke'], 'invoke:*'],
  [['invoke:*port'], ['invoke:sup*port'], undefined],
  [['invoke:s*t', 'invoke:a'], ['invoke:a*t'], 'invoke:a*t'],
  [['invoke:a\\*'], ['invoke:a*'], 'invoke:a*'],
  [['read:own'], ['read:all'], 'read:all'],
  [['write:all'], ['read:all'], undefined],
  [['invoke:support'], ['read:own'], undefined],
  [['decide:*/get_*'], ['decide:a/get_b'], undefined],
  [['decide:a/*'], ['decide'], 'decide:*/*'],
  [['configure'], ['configure:mcp-servers'], 'configure:mcp-servers'],
  [['configure:agents'], ['observe'], undefined],
  [['admin'], ['configure:mcp-servers', 'operator'], undefined],
  [['operator'], ['admin'], 'admin'],
];
for (const [has, gives, beyond] of gifts) {
  t.test(`[${has}] ${beyond ? `may not give ${beyond} of` : 'may give'} [${gives}]`, async (t) => {
    t.equal(firstBeyond([parseGrants(has)], parseGrants(gives)), beyond);
  });
}

t.test('what a principal may give allows nothing that it may not do itself', async (t) => {
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*', '\\*'), minLength: 1, maxLength: 4 });
  const id = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 5 });
  fc.assert(
    fc.property(pattern, pattern, id, (outer, inner, agent) => {
      const own = parseGrants([`invoke:${outer}`]);
      const given = parseGrants([`invoke:${inner}`]);
      if (firstBeyond([own], given) !== undefined || !allows(given, 'invoke', agent)) return;
      t.ok(allows(own, 'invoke', agent), `${outer} includes ${inner}, so it matches ${agent}`);
    }),
  );
});

t.test('service grants are recognized and removed', async (t) => {
  t.equal(firstServiceGrant(parseGrants(['operator', 'configure:agents'])), 'configure:agents');
  t.equal(firstServiceGrant(parseGrants(['operator'])), undefined);
  const [text = ''] = withoutServiceGrants(parseGrants(['invoke:a%20b%5C*%25é', 'admin'])).texts;
  t.equal(text, 'invoke:a%20b%5C*%25%C3%A9');
  t.ok(allows(parseGrants([text]), 'invoke', 'a b*%é'));
  t.ok(allows(unite(parseGrants(['keys']), parseGrants(['act'])), 'act'));
});

t.test('limits the length of each grant of a user or a key', async (t) => {
  const longest = `invoke:${'a'.repeat(2041)}`;
  for (const grants of [[longest], [`${longest}a`]]) {
    const isAllowed = grants[0] === longest;
    t.equal(NewUser.safeParse({ id: 'u', kind: 'person', grants }).success, isAllowed);
    t.equal(UserChange.safeParse({ grants }).success, isAllowed);
    t.equal(NewKey.safeParse({ name: 'k', grants }).success, isAllowed);
    t.equal(KeyChange.safeParse({ grants }).success, isAllowed);
  }
});
