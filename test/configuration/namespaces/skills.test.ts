import t from 'tap';
import { namespace, refuses, write } from './write.ts';

const skills = namespace('skills');
const whole = { id: 's', name: 'n', description: 'd', instructions_md: 'i' };

t.test('stores a skill in canonical form', async (t) => {
  t.strictSame(write(skills, { ...whole, paths: [], when_to_use: null }), {
    ...whole,
    user_invocable: true,
    model_invocable: true,
    context: 'inline',
  });
});

refuses(t, skills, whole, [
  [{ id: 'DB' }, "invalid skill spec: field 'id' must be lowercase"],
  [{ id: 'a--b' }, "invalid skill spec: field 'id' must not contain '--'"],
  [{ id: 'a'.repeat(65) }, "invalid skill spec: field 'id' must be at most 64 characters"],
  [
    { paths: ['x'] },
    'invalid skill spec: paths are not supported for DB-managed skills until resources are persisted',
  ],
  [
    { allowed_tools: ['Bash(x)'] },
    "invalid skill spec: scoped allowed_tools entry 'Bash(x)' is not supported for DB-managed skills",
  ],
  [
    { allowed_tools: ['a*\\'] },
    "invalid skill spec: invalid allowed-tools pattern 'a*\\': pattern ends with a dangling escape (`\\`)",
  ],
  [{ context: 'x' }, "invalid skill spec: field 'context': must be one of 'inline', 'fork'"],
]);

t.test('rejects an invalid expression', async (t) => {
  t.throws(() => write(skills, { ...whole, allowed_tools: ['/(/'] }), {
    message: /^invalid payload: invalid skill spec: invalid allowed-tools pattern '\/\(\/': /,
  });
});

t.test('merges overrides of a seeded skill on read, and clears a text on null', async (t) => {
  const base = write(skills, { ...whole, when_to_use: 'w', argument_hint: 'h' });
  const { when_to_use: _, ...rest } = base;
  t.strictSame(skills.effective(base, { when_to_use: null, description: 'new', id: 'other' }), {
    ...rest,
    description: 'new',
  });
});
