import t from 'tap';
import { renderCatalog } from '../../../src/plugins/skills/catalog.ts';
import { managedSkill } from '../../../src/plugins/skills/skill.ts';
import { greeting, skillWith } from './skills.ts';

const blockOf = (catalog: string | undefined): string =>
  catalog?.slice(0, catalog.indexOf('</available_skills>') + '</available_skills>'.length) ?? '';

const namesIn = (catalog: string | undefined): string[] =>
  [...(catalog ?? '').matchAll(/^<name>(.*)<\/name>$/gm)].map(([, name = '']) => name);

const numbered = (count: number, fields: object = {}) =>
  Array.from({ length: count }, (_, index) =>
    skillWith({ id: `s${String(index).padStart(3, '0')}`, ...fields }),
  );

t.test('lists a skill with its id and its description', async (t) => {
  t.equal(
    blockOf(renderCatalog([skillWith()])),
    [
      '<available_skills>',
      '<skill>',
      '<name>greeting</name>',
      '<description>Adds friendly greeting behavior</description>',
      '</skill>',
      '</available_skills>',
    ].join('\n'),
  );
});

t.test('places a separate name before the description, and when to use it after it', async (t) => {
  const catalog = renderCatalog([skillWith({ name: 'Hello', when_to_use: 'at the start' })]);
  t.match(catalog, '<description>Hello: Adds friendly greeting behavior — When: at the start</description>');
});

t.test('escapes the texts of a skill', async (t) => {
  const catalog = renderCatalog([skillWith({ description: '</skill> & "\'<' })]);
  t.match(catalog, '<description>&lt;/skill&gt; &amp; &quot;&apos;&lt;</description>');
});

t.test('sorts skills by id', async (t) => {
  const skills = ['b', 'a-1', 'a', 'c'].map((id) => skillWith({ id }));
  t.same(namesIn(renderCatalog(skills)), ['a', 'a-1', 'b', 'c']);
});

t.test('hides a skill that models must not invoke', async (t) => {
  const hidden = skillWith({ id: 'hidden', model_invocable: false });
  t.same(namesIn(renderCatalog([hidden, skillWith()])), ['greeting']);
  t.equal(renderCatalog([hidden]), undefined);
  t.equal(renderCatalog([]), undefined);
});

t.test('limits the list to 32 skills and reports that', async (t) => {
  t.equal(namesIn(renderCatalog(numbered(32))).length, 32);
  t.notMatch(renderCatalog(numbered(32)), /Only/);
  const cut = renderCatalog(numbered(40));
  t.same(namesIn(cut), namesIn(renderCatalog(numbered(32))));
  t.match(cut, '</available_skills>\nOnly 32 of 40 skills are shown.\n<skills_usage>');
});

t.test('limits the list to 16384 characters', async (t) => {
  const catalog = renderCatalog(numbered(20, { description: 'x'.repeat(1000) }));
  const shown = namesIn(catalog).length;
  const entry =
    blockOf(renderCatalog(numbered(2, { description: 'x'.repeat(1000) }))).length -
    blockOf(renderCatalog(numbered(1, { description: 'x'.repeat(1000) }))).length;
  t.ok(blockOf(catalog).length <= 16384);
  t.ok(blockOf(catalog).length + entry > 16384);
  t.match(catalog, `Only ${shown} of 20 skills are shown.`);
});

t.test('shows the first skill whatever its length', async (t) => {
  const long = skillWith({ id: 'a', when_to_use: '&'.repeat(16384) });
  t.same(namesIn(renderCatalog([skillWith(), long])), ['a']);
});

t.test('names resource and script tools only if a skill has such files', async (t) => {
  const folder = { root: '/nowhere', resources: false, scripts: false };
  const catalogOf = (has: object) =>
    renderCatalog([{ ...managedSkill(greeting), folder: { ...folder, ...has } }]);
  t.match(catalogOf({}), '`skill` tool');
  t.notMatch(catalogOf({}), /load_skill_resource|skill_script/);
  t.match(catalogOf({ resources: true }), 'load_skill_resource');
  t.notMatch(catalogOf({ resources: true }), 'skill_script');
  t.match(catalogOf({ scripts: true }), 'skill_script');
});
