import t from 'tap';
import { createMachines, draw, machineAsSeen, machineOf } from '../../src/programs/machines.ts';

/** Machines of programs are laid out one after the other, for as long as somebody could look at them. */

t.test('nothing is laid out for a program that has gone meanwhile', async (t) => {
  const definition = JSON.stringify({ id: 'light', initial: 'on', states: { on: {} } });
  const { machine } = machineOf(createMachines(), 'unnamed', definition);
  let isConnected = true;
  const drawn = draw(machine, () => isConnected);
  t.match(machineAsSeen(machine), { name: 'light', chart: 'drawing', problem: null, states: 1 });
  isConnected = false;
  await drawn;
  t.match(machineAsSeen(machine), {
    chart: 'none',
    problem: 'it cannot be laid out: its program had gone',
  });
});
