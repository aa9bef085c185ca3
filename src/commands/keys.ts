import { Command, Option } from 'commander';
import type { ApiKey } from '../schema/api-key.ts';
import type { UserKind } from '../schema/user.ts';
import { duration } from './duration.ts';
import type { ServiceOptions } from './identity/api.ts';
import { reaching, withIdentity } from './identity/service.ts';
import { guarded } from './usage.ts';

/** `troupe keys`: creates, lists, replaces and revokes API keys (identity.md 2.1). */

type CreateOptions = ServiceOptions & {
  name: string;
  user?: string;
  newUser?: UserKind;
  userGrant?: string[];
  grant?: string[];
  expires?: number | null;
  json?: boolean;
};

export const keysCommand = new Command('keys').description('manage API keys');

const life = (text: string): number | null => (text === 'never' ? null : duration(text));

const AFTER_CREATE = `
Prints the key alone on standard output, so that KEY=$(troupe keys create --name ci --user ci-bot) holds it. The key is
not shown again.`;

reaching(keysCommand.command('create'))
  .description('create an API key')
  .requiredOption('--name <name>', 'name of the key')
  .option('--user <id>', 'user that the key acts for; default: the user of the credential')
  .addOption(
    new Option('--new-user <kind>', 'create the user if it does not exist').choices(['person', 'service']),
  )
  .option('--user-grant <grants...>', 'grants of the new user')
  .option('--grant <grants...>', 'narrow the key to these grants; default: whatever the user has')
  .option('--expires <time>', 'life of the key, such as 90d, or never; default: 90d', life)
  .option('--json', 'print the key with its details as JSON')
  .addHelpText('after', AFTER_CREATE)
  .action(
    guarded((options: CreateOptions) =>
      withIdentity(options, async (service) => {
        const { name, user, newUser, userGrant = [], grant, expires, ofScope } = options;
        const created = await service.createKey({
          name,
          ...(user !== undefined && { user }),
          ...(newUser !== undefined && { new_user: { kind: newUser, grants: userGrant } }),
          ...(grant !== undefined && { grants: grant }),
          ...(expires !== undefined && { expires_in_secs: expires }),
          ...(ofScope !== undefined && !options.offline && { of_scope: ofScope }),
        });
        process.stdout.write(options.json ? `${JSON.stringify(created)}\n` : `${created.key}\n`);
      }),
    ),
  );

reaching(keysCommand.command('list'))
  .description('list API keys')
  .option('--json', 'print one JSON object per line')
  .action(
    guarded((options: ServiceOptions & { json?: boolean }) =>
      withIdentity(options, async (service) => {
        for (const key of await service.keys()) {
          process.stdout.write(`${options.json ? JSON.stringify(key) : describeKey(key)}\n`);
        }
      }),
    ),
  );

reaching(keysCommand.command('rotate'))
  .description('replace an API key, and print the new one')
  .argument('<id>', 'id of the key')
  .option('--grace <time>', 'time for which the previous key continues to work, such as 24h', duration, 0)
  .action(
    guarded((id: string, options: ServiceOptions & { grace: number }) =>
      withIdentity(options, async (service) => {
        const { key } = await service.rotateKey(id, options.grace);
        process.stdout.write(`${key}\n`);
      }),
    ),
  );

reaching(keysCommand.command('revoke'))
  .description('revoke an API key')
  .argument('<id>', 'id of the key')
  .option('--cancel-runs', 'also cancel the open runs that the key started')
  .action(
    guarded((id: string, options: ServiceOptions & { cancelRuns?: boolean }) =>
      withIdentity(options, (service) => service.revokeKey(id, { cancelRuns: options.cancelRuns === true })),
    ),
  );

const describeKey = ({ id, state, user, name, hint, grants, expires_at }: ApiKey): string =>
  [
    id,
    state.padEnd(7),
    user,
    JSON.stringify(name),
    hint,
    grants?.join(',') ?? '*',
    expires_at === null ? 'never expires' : `expires ${new Date(expires_at).toISOString()}`,
  ].join('  ');
