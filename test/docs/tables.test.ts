import t from 'tap';
import { GENERATED } from './generated.ts';
import { namesOfTables, readTable } from './replace-table.ts';

for (const { name, page, table } of GENERATED) {
  t.test(`${page} contains the table '${name}' of the code`, async (t) => {
    t.equal(readTable(name, page), table(), 'regenerate with: npm run tables');
  });
}

t.test('generates every table that a page marks as generated', async (t) => {
  for (const page of new Set(GENERATED.map(({ page }) => page))) {
    const names = GENERATED.filter((each) => each.page === page).map(({ name }) => name);
    t.strictSame(namesOfTables(page).sort(), names.sort(), page);
  }
});
