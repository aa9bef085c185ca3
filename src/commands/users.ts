import { Command } from 'commander';
import type { User } from '../schema/user.ts';
import { type Adopted, adoptThreads } from './identity/adopt.ts';
import type { ServiceOptions } from './identity/api.ts';
import { reaching, withIdentity } from './identity/service.ts';
import { guarded } from './usage.ts';

/** `troupe users`: lists users, gives them grants and threads, disables and enables them (identity.md 1.3, 2.2). */

export const usersCommand = new Command('users').description('manage users');

reaching(usersCommand.command('list'))
  .description('list users')
  .option('--json', 'print one JSON object per line')
  .action(
    guarded((options: ServiceOptions & { json?: boolean }) =>
      withIdentity(options, async (service) => {
        const users = await service.users();
        const width = Math.max(...users.map(({ id }) => id.length));
        for (const user of users) {
          process.stdout.write(`${options.json ? JSON.stringify(user) : describeUser(user, width)}\n`);
        }
      }),
    ),
  );

const CONFIGURE = `
configure:mcp-servers amounts to admin: it runs programs as the user of the service.`;

reaching(usersCommand.command('grant'))
  .description('give grants to a user, in addition to those that it has')
  .argument('<id>', 'id of the user')
  .argument('<grants...>', 'such as member, or invoke:support')
  .addHelpText('after', CONFIGURE)
  .action(
    guarded((id: string, given: string[], options: ServiceOptions) =>
      withIdentity(options, async (service) => {
        const { grants } = await service.user(id);
        const changed = await service.changeUser(id, { grants: [...new Set([...grants, ...given])] });
        process.stdout.write(`${describeUser(changed)}\n`);
      }),
    ),
  );

for (const [verb, disabled, description] of [
  ['disable', true, 'reject every credential of a user'],
  ['enable', false, 'accept the credentials of a user again'],
] as const) {
  reaching(usersCommand.command(verb))
    .description(description)
    .argument('<id>', 'id of the user')
    .action(
      guarded((id: string, options: ServiceOptions) =>
        withIdentity(options, async (service) => {
          process.stdout.write(`${describeUser(await service.changeUser(id, { disabled }))}\n`);
        }),
      ),
    );
}

reaching(usersCommand.command('adopt'))
  .description('give threads without an owner to the users that their resource ids name')
  .requiredOption('--from-resource', 'the resource id of a thread is the id of its owner')
  .option('--dry-run', 'change nothing, and print the threads')
  .option('--json', 'print one JSON object per line')
  .action(
    guarded((options: ServiceOptions & { dryRun?: boolean; json?: boolean }) =>
      withIdentity(options, async (service) => {
        for await (const adopted of adoptThreads(service, { dryRun: options.dryRun ?? false })) {
          if (adopted.result === 'failed') process.exitCode = 1;
          process.stdout.write(`${options.json ? JSON.stringify(adopted) : describeAdopted(adopted)}\n`);
        }
      }),
    ),
  );

const RESULTS = {
  adopted: 'adopted',
  would_adopt: 'would adopt',
  no_user: 'no such user',
  failed: 'failed',
} as const satisfies Record<Adopted['result'], string>;

const describeAdopted = ({ thread, user, result, reason }: Adopted): string =>
  [RESULTS[result].padEnd(12), thread, user, ...(reason === undefined ? [] : [reason])].join('  ');

/** @param width of the column of ids, in characters */
const describeUser = ({ id, kind, disabled, grants, token_grants, name }: User, width = 0): string =>
  [
    id.padEnd(width),
    kind.padEnd(7),
    disabled ? 'disabled' : 'enabled ',
    [...grants, ...token_grants].join(',') || '-',
    ...(name === undefined ? [] : [name]),
  ].join('  ');
