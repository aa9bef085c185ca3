import t from 'tap';
import { createMachines, draw, machineAsSeen, resolveMachine } from '../../src/programs/machines.ts';

/** Machines of programs are laid out one after the other, while a client may request them. */

t.test('does not lay out the machines of a disconnected program', async (t) => {
  const definition = JSON.stringify({ id: 'light', initial: 'on', states: { on: {} } });
  const { machine } = resolveMachine(createMachines(), 'unnamed', definition);
  let isConnected = true;
  const drawn = draw(machine, () => isConnected);
  t.match(machineAsSeen(machine), { name: 'light', chart: 'drawing', problem: null, states: 1 });
  isConnected = false;
  await drawn;
  t.match(machineAsSeen(machine), {
    chart: 'none',
    problem: 'it cannot be laid out: its program has disconnected',
  });
});
