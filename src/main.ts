#!/usr/bin/env -S node --max-semi-space-size=64
import { Command } from 'commander';
import { backupCommand } from './commands/backup.ts';
import { benchCommand } from './commands/bench.ts';
import { configCommand } from './commands/config.ts';
import { devCommand } from './commands/dev.ts';
import { doctorCommand } from './commands/doctor.ts';
import { machinesCommand } from './commands/machines.ts';
import { serveCommand } from './commands/serve.ts';
import { Outcome } from './schema/outcome.ts';
import { SettingsError } from './settings.ts';
import { version } from './version.ts';

/** The command line. A failure that its user can act on is one message, not a stack trace. */
const program = new Command('troupe')
  .description(
    'An agent runtime service: durable threads and runs, streamed over SSE, drawn as live statecharts.',
  )
  .version(version)
  .addCommand(serveCommand)
  .addCommand(devCommand)
  .addCommand(machinesCommand)
  .addCommand(backupCommand)
  .addCommand(doctorCommand)
  .addCommand(configCommand)
  .addCommand(benchCommand);

program.parseAsync().catch((error: unknown) => {
  const expected = error instanceof SettingsError || error instanceof Outcome;
  process.stderr.write(
    `troupe: ${expected ? error.message : error instanceof Error ? error.stack : error}\n`,
  );
  // A start that failed half-way may have left handles open.
  process.exit(1);
});
