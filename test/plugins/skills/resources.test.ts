import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { loadResource, locate } from '../../../src/plugins/skills/resources.ts';
import { ToolError } from '../../../src/tools/tool.ts';
import fc from '../../random.ts';
import { failureOf } from './skills.ts';

/** A skill next to a secret, with links inside, outside, to another folder and in a circle. */
const skillFolder = (t: Test): { id: string; root: string } => {
  const dir = realpathSync(
    t.testdir({
      'secret.txt': 'SECRET',
      outside: { 'secret.txt': 'SECRET' },
      'skill-2': { references: { 'a.md': 'SECRET' } },
      skill: {
        'SKILL.md': 'INSIDE',
        references: { 'a.md': 'INSIDE', sub: { 'b.md': 'INSIDE' } },
        assets: { 'a.png': 'INSIDE' },
        scripts: { 'a.sh': 'INSIDE' },
      },
    }),
  );
  const references = join(dir, 'skill', 'references');
  symlinkSync(join(dir, 'secret.txt'), join(references, 'out'));
  symlinkSync('../../outside', join(references, 'outdir'));
  symlinkSync('../../skill-2/references/a.md', join(references, 'sibling'));
  symlinkSync('../assets/a.png', join(references, 'in'));
  symlinkSync('circle', join(references, 'circle'));
  return { id: 's', root: join(dir, 'skill') };
};

t.test('loads a reference as text', async (t) => {
  t.strictSame(await loadResource(skillFolder(t), './references//sub/../a.md'), {
    loaded: true,
    skill_id: 's',
    kind: 'reference',
    path: 'references/a.md',
    bytes: 6,
    truncated: false,
    content: 'INSIDE',
  });
});

t.test('loads an asset as base64 with a media type', async (t) => {
  t.strictSame(await loadResource(skillFolder(t), 'assets/a.png', 'asset'), {
    loaded: true,
    skill_id: 's',
    kind: 'asset',
    path: 'assets/a.png',
    bytes: 6,
    truncated: false,
    media_type: 'image/png',
    encoding: 'base64',
    content: Buffer.from('INSIDE').toString('base64'),
  });
});

const refused: [path: string, kind: 'reference' | 'asset' | undefined, code: string][] = [
  ['', undefined, 'invalid_path'],
  ['/etc/passwd', undefined, 'invalid_path'],
  ['references\\a.md', undefined, 'invalid_path'],
  ['references/a.md\0', undefined, 'invalid_path'],
  ['../secret.txt', undefined, 'path_escapes_root'],
  ['references/../../secret.txt', undefined, 'path_escapes_root'],
  ['references/out', undefined, 'path_escapes_root'],
  ['references/outdir/secret.txt', undefined, 'path_escapes_root'],
  ['references/sibling', undefined, 'path_escapes_root'],
  ['SKILL.md', undefined, 'unsupported_path'],
  ['references', undefined, 'unsupported_path'],
  ['references/..', undefined, 'unsupported_path'],
  ['references/../SKILL.md', undefined, 'unsupported_path'],
  ['scripts/a.sh', undefined, 'unsupported_path'],
  ['references/a.md', 'asset', 'unsupported_path'],
  ['assets/a.png', 'reference', 'unsupported_path'],
  ['references/nope.md', undefined, 'io_error'],
  ['references/sub', undefined, 'io_error'],
  ['references/a.md/b', undefined, 'io_error'],
  ['references/circle', undefined, 'io_error'],
];
for (const [path, kind, code] of refused) {
  t.test(`${JSON.stringify(path)} ${kind ? `as ${kind} ` : ''}is refused with ${code}`, async (t) => {
    const skill = skillFolder(t);
    const [found, message] = await failureOf(() => loadResource(skill, path, kind));
    t.equal(found, code);
    t.notMatch(message, skill.root);
  });
}

t.test('does not read a pipe', async (t) => {
  const skill = skillFolder(t);
  execFileSync('bash', ['-c', 'mkfifo "$0"', join(skill.root, 'references', 'pipe')]);
  t.same(await failureOf(() => loadResource(skill, 'references/pipe')), [
    'io_error',
    "'references/pipe' is not a file",
  ]);
});

t.test('truncates a long reference between characters at 256 KiB, and a long asset at 512 KiB', async (t) => {
  const skill = skillFolder(t);
  writeFileSync(join(skill.root, 'references', 'long.md'), `x${'é'.repeat(256 * 512)}`);
  writeFileSync(join(skill.root, 'assets', 'long.bin'), Buffer.alloc(512 * 1024 + 1, 7));
  writeFileSync(join(skill.root, 'references', 'full.md'), 'x'.repeat(256 * 1024));
  t.strictSame(await loadResource(skill, 'references/long.md'), {
    loaded: true,
    skill_id: 's',
    kind: 'reference',
    path: 'references/long.md',
    bytes: 256 * 1024 + 1,
    truncated: true,
    content: `x${'é'.repeat(256 * 512 - 1)}`,
  });
  t.match(await loadResource(skill, 'assets/long.bin'), {
    bytes: 512 * 1024 + 1,
    truncated: true,
    media_type: 'application/octet-stream',
    content: Buffer.alloc(512 * 1024, 7).toString('base64'),
  });
  t.match(await loadResource(skill, 'references/full.md'), {
    truncated: false,
    content: 'x'.repeat(256 * 1024),
  });
});

const part = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom('..', '.', '', 'references', 'assets', 'scripts', 'sub', 'skill') },
  { weight: 6, arbitrary: fc.constantFrom('a.md', 'b.md', 'a.png', 'secret.txt', 'SKILL.md', 'skill-2') },
  { weight: 5, arbitrary: fc.constantFrom('out', 'sibling', 'outdir', 'in', 'outside', 'circle') },
  { weight: 1, arbitrary: fc.string() },
);
const anyPath = fc
  .tuple(fc.constantFrom('', '/', 'references/', 'assets/', '../'), fc.array(part, { maxLength: 8 }))
  .map(([start, parts]) => start + parts.join('/'));

t.test('reads nothing outside of the root for any path, and does not reveal the host path', async (t) => {
  const skill = skillFolder(t);
  let read = 0;
  await fc.assert(
    fc.asyncProperty(anyPath, async (path) => {
      try {
        const loaded = JSON.stringify(await loadResource(skill, path));
        read += 1;
        return loaded.includes('INSIDE') || loaded.includes(Buffer.from('INSIDE').toString('base64'));
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        return !error.message.includes(skill.root);
      }
    }),
    { numRuns: 2000 },
  );
  t.ok(read > 0, 'some of the generated paths are valid');
});

t.test('accepts a file inside whose name starts with two dots', async (t) => {
  const skill = skillFolder(t);
  mkdirSync(join(skill.root, 'scripts', '..b'));
  writeFileSync(join(skill.root, 'scripts', '..b', '..x.sh'), '');
  t.equal((await locate(skill.root, 'scripts/..b/..x.sh', ['scripts'])).path, 'scripts/..b/..x.sh');
});
