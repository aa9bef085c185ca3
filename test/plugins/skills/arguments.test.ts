// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders in the instructions of skills
import t from 'tap';
import { fillIn } from '../../../src/plugins/skills/arguments.ts';
import type { Json } from '../../../src/tools/tool.ts';
import { failureOf, skillWith } from './skills.ts';

const declared = skillWith({
  id: 's',
  instructions_md: 'Write about ${a} in ${b}; keep ${HOME}.',
  arguments: [{ name: 'a', required: true }, { name: 'b' }],
}).spec;

const open = skillWith({ id: 's', instructions_md: '${x} ${y} ${x} $x ${ x} ${constructor}' }).spec;

const filled: [given: Json | undefined, text: string][] = [
  [{ a: 'tea', b: 'verse' }, 'Write about tea in verse; keep ${HOME}.'],
  [{ a: 1, b: true }, 'Write about 1 in true; keep ${HOME}.'],
  [{ a: 'tea' }, 'Write about tea in ; keep ${HOME}.'],
  [{ a: '${b}', b: '$&' }, 'Write about ${b} in $&; keep ${HOME}.'],
];
for (const [given, text] of filled) {
  t.test(`fills in declared arguments ${JSON.stringify(given)}`, async (t) => {
    t.equal(fillIn(declared, given), text);
  });
}

const refused: [given: Json | undefined, message: string][] = [
  [{ a: 'tea', x: 1 }, "unknown argument 'x' for skill 's'"],
  [{ b: 'verse' }, "missing required argument 'a' for skill 's'"],
  [undefined, "missing required argument 'a' for skill 's'"],
  ['tea', "skill 's' requires named arguments: a, b"],
  [['tea'], "skill 's' requires named arguments: a, b"],
  [{ a: null }, "argument 'a' for skill 's' must not be null"],
  [{ a: 'tea', b: null }, "argument 'b' for skill 's' must not be null"],
  [{ a: ['tea'] }, "argument 'a' for skill 's' must be a string, number or boolean"],
  [{ a: { b: 1 } }, "argument 'a' for skill 's' must be a string, number or boolean"],
];
for (const [given, message] of refused) {
  t.test(`rejects declared arguments ${JSON.stringify(given)}`, async (t) => {
    t.same(await failureOf(() => fillIn(declared, given)), ['invalid_arguments', message]);
  });
}

t.test('fills every given name without declared arguments, and leaves the rest', async (t) => {
  t.equal(
    fillIn(open, { x: 1, y: { z: [null] }, other: 'ignored' }),
    '1 {"z":[null]} 1 $x ${ x} ${constructor}',
  );
  t.equal(fillIn(open, { x: null, y: false }), ' false  $x ${ x} ${constructor}');
});

t.test('fills nothing from texts, lists and missing values without declared arguments', async (t) => {
  for (const given of ['text', ['x'], 7, undefined]) t.equal(fillIn(open, given), open.instructions_md);
});
