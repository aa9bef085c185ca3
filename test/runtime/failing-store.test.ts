import t, { type Test } from 'tap';
import {
  bringToRest,
  checkRows,
  checkStreams,
  createEverything,
  goOn,
  play,
  type Scene,
  startEverything,
} from './everything.ts';

/**
 * A store that fails at each commit of the scene in turn: every waiting client gets a response, no acknowledged work is
 * lost, and later work succeeds.
 */

/** Fails every commit of the scene once, each on separate threads. */
const eachCommit = async (
  t: Test,
  failing: (commit: number, about: string) => Promise<boolean>,
): Promise<void> => {
  let commit = 1;
  while (await failing(commit, `commit ${commit}`)) commit += 1;
  t.ok(commit > 20, `the scene has ${commit - 1} commits`);
};

const sceneOf = (scene: Pick<Scene, 'service' | 'stage' | 'name' | 'isInOneProcess'>): Scene => ({
  ...scene,
  said: [],
  others: [],
});

for (const [how, lasts] of [
  ['once', 'fails once'],
  ['from then on', 'fails for a while'],
] as const) {
  t.test(`a store that ${lasts} leaves no client waiting and loses no acknowledged work`, async (t) => {
    const stage = createEverything();
    const service = await startEverything(t, stage);
    await eachCommit(t, async (commit, about) => {
      const scene = sceneOf({ service, stage, name: about, isInOneProcess: true });
      service.failAt(commit, how);
      const failed = await play(scene);
      await service.restore();
      await bringToRest(scene, service);
      await checkStreams(t, scene, about);
      checkRows(t, scene, service, about);
      await goOn(t, scene, service, about);
      return failed;
    });
  });
}

t.test('continues acknowledged work of a failing store in the next process', async (t) => {
  const stage = createEverything();
  let service = await startEverything(t, stage);
  await eachCommit(t, async (commit, about) => {
    const scene = sceneOf({ service, stage, name: about, isInOneProcess: false });
    service.failAt(commit, 'from then on');
    const failed = await play(scene);
    await service.stop();
    await checkStreams(t, scene, about);
    service = await startEverything(t, stage, service.dir);
    await bringToRest(scene, service);
    checkRows(t, scene, service, about);
    await goOn(t, scene, service, about);
    return failed;
  });
});
