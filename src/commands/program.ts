import { Command } from 'commander';
import { Outcome } from '../schema/outcome.ts';
import { SettingsError } from '../settings.ts';
import { version } from '../version.ts';
import { backupCommand } from './backup.ts';
import { benchCommand } from './bench.ts';
import { configCommand } from './config.ts';
import { devCommand } from './dev.ts';
import { doctorCommand } from './doctor.ts';
import { evalCommand } from './eval.ts';
import { machinesCommand } from './machines.ts';
import { pruneCommand } from './prune.ts';
import { serveCommand } from './serve.ts';
import { systemdCommand } from './systemd.ts';

/** The command line. A failure that its user can act on is one message, not a stack trace. */
const program = new Command('troupe')
  .description(
    'An agent runtime service: durable threads and runs, streamed over SSE, drawn as live statecharts.',
  )
  .version(version)
  .showHelpAfterError('`troupe --help` lists the commands')
  .addCommand(serveCommand)
  .addCommand(devCommand)
  .addCommand(machinesCommand)
  .addCommand(backupCommand)
  .addCommand(doctorCommand)
  .addCommand(systemdCommand)
  .addCommand(configCommand)
  .addCommand(evalCommand)
  .addCommand(benchCommand)
  .addCommand(pruneCommand);

export const runProgram = (): Promise<void> =>
  program.parseAsync().then(
    () => {},
    (error: unknown) => {
      const expected = error instanceof SettingsError || error instanceof Outcome;
      process.stderr.write(
        `troupe: ${expected ? error.message : error instanceof Error ? error.stack : error}\n`,
      );
      // A start that failed half-way may have left handles open.
      process.exit(1);
    },
  );
