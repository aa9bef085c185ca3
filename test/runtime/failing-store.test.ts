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
 * A store that fails in the middle of everything, at each of the commits of the scene in turn: whoever waits gets an
 * answer, whatever that is; nothing that was acknowledged is lost; what comes next works.
 */

/** Every commit of the scene fails once, on threads of its own. */
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
  t.test(
    `a store that ${lasts} leaves nobody waiting, and loses nothing that was acknowledged`,
    async (t) => {
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
    },
  );
}

t.test('what a failing store had acknowledged is there for the next process, which goes on', async (t) => {
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
