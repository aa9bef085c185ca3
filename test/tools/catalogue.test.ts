import t from 'tap';
import { z } from 'zod';
import { Invalid } from '../../src/schema/outcome.ts';
import { createCatalogue } from '../../src/tools/catalogue.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { ToolRules } from '../../src/tools/tool-rules.ts';

const tool = (id: string) =>
  defineTool({ id, description: '', input: z.object({}), execute: () => ({ data: null }) });

const IDS = ['get_weather', 'get_stock_price', 'finish', 'mcp__files__read'];
const catalogue = createCatalogue(IDS.map(tool));

const table: [name: string, rules: ToolRules, offered: string[]][] = [
  ['both keys absent: everything', {}, IDS],
  ['a list alone: exactly the list', { allowed_tools: ['finish', 'unknown'] }, ['finish']],
  ['a star in the list is literal', { allowed_tools: ['*'] }, []],
  ['patterns alone: their matches', { allowed_tool_patterns: ['get_*'] }, ['get_weather', 'get_stock_price']],
  ['null and absent: nothing', { allowed_tools: null }, []],
  ['absent and null: nothing', { allowed_tool_patterns: null }, []],
  ['null and null: nothing', { allowed_tools: null, allowed_tool_patterns: null }, []],
  ['null and empty: nothing', { allowed_tools: null, allowed_tool_patterns: [] }, []],
  ['null and patterns: the patterns', { allowed_tools: null, allowed_tool_patterns: ['fin*'] }, ['finish']],
  ['empty and absent: nothing', { allowed_tools: [] }, []],
  ['empty and empty: nothing', { allowed_tools: [], allowed_tool_patterns: [] }, []],
  ['absent and empty: nothing', { allowed_tool_patterns: [] }, []],
  [
    'list and patterns: the union',
    { allowed_tools: ['finish'], allowed_tool_patterns: ['mcp__*'] },
    ['finish', 'mcp__files__read'],
  ],
  ['an excluded id is not offered', { excluded_tools: ['finish'] }, IDS.filter((id) => id !== 'finish')],
  [
    'an excluded pattern wins over an allowed id',
    { allowed_tools: IDS, excluded_tool_patterns: ['get_*'] },
    ['finish', 'mcp__files__read'],
  ],
  ['an excluded id wins over an allowed pattern', { allowed_tool_patterns: ['*'], excluded_tools: IDS }, []],
  ['empty exclusions exclude nothing', { excluded_tools: [], excluded_tool_patterns: [] }, IDS],
];
for (const [name, rules, offered] of table) {
  t.test(`selection: ${name}`, async (t) => {
    const selected = catalogue.select(rules);
    t.same([...selected.keys()], offered);
    t.ok([...selected].every(([id, tool]) => tool.descriptor.id === id));
  });
}

t.test('finds tools by id', async (t) => {
  t.equal(catalogue.get('finish')?.descriptor.id, 'finish');
  t.equal(catalogue.get('nope'), undefined);
  t.same(
    catalogue.all().map(({ descriptor }) => descriptor.id),
    IDS,
  );
});

t.test('rejects two tools with one id', async (t) => {
  t.throws(
    () => createCatalogue([tool('t'), tool('t')]),
    new Invalid('tool ID conflict: "t" registered by both global and global'),
  );
});

t.test('rejects an invalid pattern in any list', async (t) => {
  t.throws(() => catalogue.select({ allowed_tool_patterns: [''] }), new Invalid('pattern is empty'));
  t.throws(
    () => catalogue.select({ excluded_tool_patterns: ['a\\'] }),
    new Invalid('pattern ends with a dangling escape (`\\`)'),
  );
});
