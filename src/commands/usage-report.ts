import { Command, InvalidArgumentError } from 'commander';
import { USAGE_PROPERTIES, type UsageItem, UsageList, type UsageProperty } from '../schema/usage.ts';
import { addressed, type Connection, connectAdmin } from './admin-client.ts';
import { guarded } from './usage.ts';

/** `troupe usage`: what runs have used, by user, agent, model and day (identity.md 5.5). */

type Options = Connection & {
  by: readonly UsageProperty[];
  since?: string;
  until?: string;
  ofScope?: string;
  json?: boolean;
};

const properties = (text: string): readonly UsageProperty[] =>
  text.split(',').map((name) => {
    const property = USAGE_PROPERTIES.find((each) => each === name);
    if (property === undefined)
      throw new InvalidArgumentError(`It is a list of: ${USAGE_PROPERTIES.join(', ')}.`);
    return property;
  });

export const usageCommand = addressed(new Command('usage'))
  .description('print runs, inferences, tokens and cost, by user, agent, model or day')
  .option('--by <properties>', 'one line for each combination of these, such as user,day', properties, [])
  .option('--since <day>', 'first UTC day, such as 2026-11-01')
  .option('--until <day>', 'last UTC day, inclusive')
  .option('--of-scope <scope>', 'scope of the usage; default: that of the credential')
  .option('--json', 'print one JSON object per line')
  .action(
    guarded(async (options: Options) => {
      for await (const item of itemsOf(options))
        process.stdout.write(`${options.json ? JSON.stringify(item) : describeItem(options.by, item)}\n`);
    }),
  );

async function* itemsOf({ by, since, until, ofScope, ...connection }: Options): AsyncIterable<UsageItem> {
  const { ask } = connectAdmin(connection);
  let cursor: string | null = '';
  while (cursor !== null) {
    const query = new URLSearchParams({
      limit: '200',
      ...(by.length > 0 && { by: by.join(',') }),
      ...(since !== undefined && { since }),
      ...(until !== undefined && { until }),
      ...(ofScope !== undefined && { of_scope: ofScope }),
      ...(cursor !== '' && { cursor }),
    });
    const page: UsageList = await ask('GET', ['v1', 'usage'], { query: `?${query}`, schema: UsageList });
    yield* page.items;
    cursor = page.next_cursor;
  }
}

const describeItem = (by: readonly UsageProperty[], item: UsageItem): string =>
  [
    ...by.map((property) => item[property] ?? ''),
    `${item.runs} runs`,
    `${item.inferences} inferences`,
    `${item.input_tokens} + ${item.output_tokens} tokens`,
    `${item.usd.toFixed(6)} USD`,
  ].join('  ');
