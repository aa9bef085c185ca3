import { Command, InvalidArgumentError, Option } from 'commander';
import { type AccessEvent, AccessKind, AccessPage } from '../schema/access-event.ts';
import { addressed, type Connection, connectAdmin } from './admin-client.ts';
import { guarded } from './usage.ts';

/** `troupe access-log`: prints the access log of a running service, newest first (identity.md 7). */

type Options = Connection & {
  user?: string;
  credential?: string;
  ip?: string;
  kind?: string;
  ofScope?: string;
  limit: number;
  json?: boolean;
};

const number = (text: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('must be a number of at least 1');
  return Number(text);
};

export const accessLogCommand = addressed(new Command('access-log'))
  .description('print sign-ins, decisions, refused requests and connected accounts, newest first')
  .addOption(new Option('--user <id>', 'only this user').conflicts(['credential', 'ip']))
  .addOption(new Option('--credential <id>', 'only this credential, such as a key').conflicts('ip'))
  .option('--ip <address>', 'only this address')
  .addOption(new Option('--kind <kind>', 'only this kind of event').choices(AccessKind.options))
  .option('--of-scope <scope>', 'only this scope')
  .option('--limit <number>', 'number of events', number, 100)
  .option('--json', 'print one JSON object per line')
  .action(
    guarded(async (options: Options) => {
      for await (const event of eventsOf(options)) {
        process.stdout.write(`${options.json ? JSON.stringify(event) : describeEvent(event)}\n`);
      }
    }),
  );

const MOST_PER_PAGE = 1000;

async function* eventsOf({ limit, ...options }: Options): AsyncIterable<AccessEvent> {
  const { ask } = connectAdmin(options);
  const { user, credential, ip, kind, ofScope: of_scope } = options;
  const filter = Object.entries({ user, credential, ip, kind, of_scope });
  let left = limit;
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams({ limit: String(Math.min(left, MOST_PER_PAGE)) });
    for (const [name, value] of [...filter, ['cursor', cursor] as const])
      if (value !== undefined) query.set(name, value);
    const page = await ask('GET', ['v1', 'access-log'], { query: `?${query}`, schema: AccessPage });
    yield* page.items;
    left -= page.items.length;
    cursor = page.next_cursor;
  } while (cursor !== undefined && left > 0);
}

const describeEvent = ({ ts, kind, user, credential, ip, route, reason, count }: AccessEvent): string =>
  [
    ts,
    kind,
    user ?? '-',
    credential ? [credential.kind, credential.id].filter((part) => part !== undefined).join(':') : '-',
    ip ?? '-',
    route ?? '-',
    ...(reason === undefined ? [] : [JSON.stringify(reason)]),
    ...(count > 1 ? [`(${count} times)`] : []),
  ].join('  ');
