import type { Process } from './process.ts';
import { openService } from './service.ts';
import type { Started } from './started.ts';
import { openStores } from './stores.ts';

/** Starts the only service of a process, on the data directory of the settings. */
export const startAlone = async (ofProcess: Process, listen: boolean): Promise<Started> => {
  const { settings, log, server } = ofProcess;
  const stores = await openStores(settings, (problem) => log.warn('store.notice', { problem }));
  const service = await openService(ofProcess, stores).catch(async (error) => {
    await ofProcess.close();
    throw error;
  });
  server.listeners.answerWith(service.answer);
  const stop = async (patience: number, waiting?: (runs: number) => void): Promise<void> => {
    server.stopListening();
    await service.stop(patience, waiting);
    await ofProcess.close();
  };
  try {
    if (listen) service.assertReachable();
    const url = listen ? await server.listen() : '';
    await service.start(url);
    return {
      url,
      service: () => service,
      stop: (waiting) => stop(settings.shutdown_timeout_ms, waiting),
      ended: new Promise(() => {}),
    };
  } catch (error) {
    await stop(0);
    throw error;
  }
};
