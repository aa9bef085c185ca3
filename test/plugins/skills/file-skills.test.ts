// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders in the instructions of skills
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readSkillFolder } from '../../../src/plugins/skills/file-skills.ts';
import { managedSkill } from '../../../src/plugins/skills/skill.ts';

const skillMd = (matter: string, body = 'Do it.') => `---\n${matter}\n---\n${body}\n`;

t.test('reads a folder with SKILL.md as a skill with all its front matter', async (t) => {
  const dir = t.testdir({
    review: {
      'SKILL.md': skillMd(
        [
          'name: Code review',
          'description: Reviews code',
          'allowed-tools: Read Bash(git log *) get_*',
          'when-to-use: before a merge',
          'arguments:',
          '  - { name: branch, description: what to review, required: true }',
          '  - depth',
          'argument-hint: "[branch]"',
          'user-invocable: false',
          'disable-model-invocation: true',
          'model: m1',
          'context: fork',
          'paths: src/** test/**',
          'license: MIT',
        ].join('\n'),
        '\n# Review\n\n---\n${branch}\n',
      ),
    },
  });
  const { skills, broken } = await readSkillFolder(dir);
  t.strictSame(broken, []);
  t.strictSame(skills[0]?.spec, {
    id: 'review',
    name: 'Code review',
    description: 'Reviews code',
    instructions_md: '# Review\n\n---\n${branch}',
    allowed_tools: ['Read', 'Bash(git log *)', 'get_*'],
    when_to_use: 'before a merge',
    arguments: [
      { name: 'branch', description: 'what to review', required: true },
      { name: 'depth', required: false },
    ],
    argument_hint: '[branch]',
    user_invocable: false,
    model_invocable: false,
    model_override: 'm1',
    context: 'fork',
    paths: ['src/**', 'test/**'],
  });
});

t.test('names a minimal skill after its folder, and applies the rules of managed skills', async (t) => {
  const dir = t.testdir({
    tea: { 'SKILL.md': '\uFEFF---\r\ndescription: Makes tea\r\n---\r\nBoil water.\r\n' },
  });
  const [skill] = (await readSkillFolder(dir)).skills;
  t.match(skill, {
    spec: { id: 'tea', name: 'tea', instructions_md: 'Boil water.' },
    folder: { resources: false, scripts: false },
  });
  t.strictSame(managedSkill(skill?.spec).spec, skill?.spec);
});

t.test('detects resources and scripts of a skill', async (t) => {
  const md = skillMd('description: d');
  const dir = t.testdir({
    a: { 'SKILL.md': md, references: { 'x.md': '' } },
    b: { 'SKILL.md': md, assets: { 'x.png': '' }, scripts: {} },
    c: { 'SKILL.md': md, scripts: { 'x.sh': '' } },
  });
  const { skills } = await readSkillFolder(dir);
  t.same(
    skills.map(({ folder }) => [folder?.resources, folder?.scripts]),
    [
      [true, false],
      [true, false],
      [false, true],
    ],
  );
});

t.test('ignores other files, and returns no skills of a missing folder', async (t) => {
  const dir = t.testdir({ 'README.md': 'x', shared: { 'x.txt': '' }, '.git': { 'SKILL.md': 'x' } });
  t.same(await readSkillFolder(dir), { skills: [], broken: [] });
  t.same(await readSkillFolder(join(dir, 'nowhere')), { skills: [], broken: [] });
  await t.rejects(readSkillFolder(join(dir, 'README.md')), { message: /cannot be read: ENOTDIR/ });
});

const faults: [name: string, content: string, problem: RegExp][] = [
  ['no front matter', 'Just text', /^does not begin with front matter/],
  ['front matter without end', '---\nname: x\n', /^does not begin with front matter/],
  ['broken YAML', '---\nname: x\nwhen-to-use: "y\n---\nText', /^line [234]: /],
  ['the same key twice', skillMd('name: x\nname: y'), /^line 3: .*unique/],
  ['too many aliases', skillMd(`a: &a [x]\nb: &b [${'*a,'.repeat(60)}]\nc: [${'*b,'.repeat(60)}]`), /alias/],
  ['front matter that is a list', skillMd('- x'), /^front matter: /],
  ['a number as description', skillMd('description: 7'), /^front matter: description: /],
  ['a list as hint', skillMd('description: d\nargument-hint: [x]'), /^front matter: \["argument-hint"\]: /],
  ['no description', skillMd('name: x'), /missing field 'description'/],
  ['no instructions', skillMd('description: d', ' '), /field 'instructions_md' cannot be empty/],
  ['an unknown context', skillMd('description: d\ncontext: other'), /field 'context'/],
  [
    'a broken pattern',
    skillMd('description: d\nallowed-tools: /(/'),
    /invalid allowed-tools pattern '\/\(\/'/,
  ],
  ['too large a file', skillMd('description: d', 'x'.repeat(256 * 1024)), /larger than 262144 bytes/],
];
for (const [name, content, problem] of faults) {
  t.test(`reports a skill with ${name} without stopping the others`, async (t) => {
    const dir = t.testdir({
      bad: { 'SKILL.md': content },
      good: { 'SKILL.md': skillMd('description: d') },
    });
    const { skills, broken } = await readSkillFolder(dir);
    t.same(
      skills.map(({ spec }) => spec.id),
      ['good'],
    );
    t.match(broken, [{ id: 'bad', problem }]);
  });
}

t.test('requires the name of a folder to be an id', async (t) => {
  const dir = t.testdir({ Bad_Name: { 'SKILL.md': skillMd('description: d') } });
  t.match((await readSkillFolder(dir)).broken, [{ id: 'Bad_Name', problem: /field 'id' must be lowercase/ }]);
});

t.test('does not read a SKILL.md that links out of its folder', async (t) => {
  const dir = t.testdir({ 'outside.md': skillMd('description: secret'), a: {} });
  symlinkSync(join(dir, 'outside.md'), join(dir, 'a', 'SKILL.md'));
  t.match(await readSkillFolder(dir), {
    skills: [],
    broken: [{ id: 'a', problem: "'SKILL.md' leads out of the folder of the skill" }],
  });
});

t.test('accepts a link to another folder as a skill', async (t) => {
  const dir = t.testdir({ elsewhere: { 'SKILL.md': skillMd('description: d') }, skills: {} });
  symlinkSync(join(dir, 'elsewhere'), join(dir, 'skills', 'linked'));
  t.match((await readSkillFolder(join(dir, 'skills'))).skills, [{ spec: { id: 'linked' } }]);
});
