import { useNavigate, useParams } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { statusOf } from '../../data/error.ts';
import { Button } from '../../design/Button.tsx';
import { ConfirmDialog } from '../../design/Dialog.tsx';
import { Field } from '../../design/Field.tsx';
import { Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { type Dataset as DatasetRecord, EVALS_OFF, isScriptable } from '../../fixtures/dataset.ts';
import { useTexts } from '../../i18n/locale.ts';
import { download } from '../../list/download.ts';
import { useGo } from '../../shell/links.tsx';
import { NoSuch } from '../../shell/NoSuch.tsx';
import { toast, toastError } from '../../shell/toasts.ts';
import { UnsavedGuard } from '../../shell/UnsavedGuard.tsx';
import { isRunning, useEvalRuns } from '../eval-runs/runs.ts';
import css from './Datasets.module.css';
import { DeleteDataset } from './DeleteDataset.tsx';
import { Fixtures } from './Fixtures.tsx';
import { fixturesIn } from './fixture.ts';
import { ImportDialogue } from './ImportDialogue.tsx';
import { ImportTraces } from './ImportTraces.tsx';
import { RunPanel } from './RunPanel.tsx';
import { type RunSettings, startRun, USUAL } from './run-request.ts';
import { texts } from './texts.ts';
import { type DatasetWrite, useDatasetWrite } from './write.ts';

const Description = ({ dataset, write }: { dataset: DatasetRecord; write: DatasetWrite }) => {
  const t = useTexts(texts);
  const { description } = dataset.spec;
  /** Undefined: as it is stored. */
  const [typed, type] = useState<string>();
  if (typed === description) type(undefined);
  const isDirty = typed !== undefined && typed !== description;
  return (
    <form
      className={css.description}
      onSubmit={(event) => {
        event.preventDefault();
        if (isDirty) void write.change((spec) => ({ ...spec, description: typed }));
      }}
    >
      <Field label={t('column.description')}>
        {(control) => (
          <input
            {...control}
            type="text"
            value={typed ?? description}
            onChange={({ target }) => type(target.value)}
          />
        )}
      </Field>
      {isDirty && (
        <Button type="submit" disabled={write.busy}>
          {t('fixture.save')}
        </Button>
      )}
      <UnsavedGuard isDirty={isDirty} />
    </form>
  );
};

/** Whatever stands in the way of playing it as it is set up; undefined: nothing does. */
const useObstacle = (settings: RunSettings, dataset: DatasetRecord | undefined): string | undefined => {
  const t = useTexts(texts);
  if (!dataset || dataset.spec.fixtures.length === 0) return t('fixture.empty');
  if (settings.mode === 'live') return settings.models.length === 0 ? t('run.noModels') : undefined;
  return dataset.spec.fixtures.some(isScriptable) ? undefined : t('run.liveOnly');
};

const ImportFile = ({ write }: { write: DatasetWrite }) => {
  const t = useTexts(texts);
  const id = useId();
  const load = async (file: File): Promise<void> => {
    try {
      const fixtures = fixturesIn(await file.text());
      const isStored = await write.change((spec) => ({
        ...spec,
        fixtures: [
          ...spec.fixtures.filter((old) => fixtures.every((fixture) => fixture.id !== old.id)),
          ...fixtures,
        ],
      }));
      if (isStored) toast('success', t('import.done', { count: fixtures.length }));
    } catch (error) {
      toast('error', t('import.failed', { why: error instanceof Error ? error.message : '' }));
    }
  };
  return (
    <>
      <input
        id={id}
        className={css.file}
        type="file"
        accept=".json,application/json"
        aria-label={t('import.file')}
        tabIndex={-1}
        onChange={({ target }) => {
          const file = target.files?.[0];
          if (file) void load(file);
          target.value = '';
        }}
      />
      <Button disabled={write.busy} onClick={() => document.getElementById(id)?.click()}>
        {t('import.file')}
      </Button>
    </>
  );
};

export default function Dataset() {
  const t = useTexts(texts);
  const { id = '' } = useParams({ strict: false });
  const go = useGo();
  const navigate = useNavigate();
  const write = useDatasetWrite(id);
  const { query } = write;
  const dataset = query.data;
  const [settings, setSettings] = useState<RunSettings>(USUAL);
  const [busy, setBusy] = useState(false);
  const [open, setOpen] = useState<'traces' | 'dialogue' | 'delete'>();
  const obstacle = useObstacle(settings, dataset);
  const runs = useEvalRuns(id).data ?? [];
  const ended = runs.filter((run) => !isRunning(run) && run.item_count > 0);
  const baselines = ended.filter(
    (run) => run.dataset_revision === dataset?.meta.revision && run.execution_mode === settings.mode,
  );
  const baseline = baselines.some((run) => run.id === settings.baseline) ? settings.baseline : '';
  const play = async (): Promise<void> => {
    setBusy(true);
    try {
      const run = encodeURIComponent(await startRun(id, { ...settings, baseline }));
      go(`/eval-runs/${run}${baseline && `?baseline=${encodeURIComponent(baseline)}`}`);
    } catch (error) {
      toastError(error);
      setBusy(false);
    }
  };
  if (statusOf(query.error) === 404) {
    return <NoSuch title={t('notFound', { id })} to="/datasets" all={t('all')} />;
  }
  return (
    <Page
      title={id}
      count={dataset && t('revision', { revision: dataset.meta.revision })}
      actions={
        <>
          <Button
            tone="primary"
            icon="runs"
            disabled={busy || obstacle !== undefined}
            title={obstacle}
            onClick={() => void play()}
          >
            {t('run')}
          </Button>
          <Button onClick={() => setOpen('traces')}>{t('traces.title')}</Button>
          <Button onClick={() => setOpen('dialogue')}>{t('dialogue.title')}</Button>
          <ImportFile write={write} />
          <Button
            onClick={() =>
              download(`${id}.json`, 'application/json', JSON.stringify({ id, ...dataset }, null, 2))
            }
          >
            {t('export')}
          </Button>
          <Button tone="danger" icon="trash" onClick={() => setOpen('delete')}>
            {t('delete.confirm')}
          </Button>
        </>
      }
    >
      <Loaded query={query} off={EVALS_OFF}>
        {(read) => (
          <>
            <Description dataset={read} write={write} />
            {obstacle !== undefined && read.spec.fixtures.length > 0 && (
              <p className={css.quiet}>{obstacle}</p>
            )}
            <RunPanel
              settings={{ ...settings, baseline }}
              fixtures={read.spec.fixtures.length}
              baselines={baselines}
              onChange={setSettings}
            />
            <Fixtures fixtures={read.spec.fixtures} write={write} lastRun={ended[0]?.id} />
          </>
        )}
      </Loaded>
      {open === 'traces' && dataset && (
        <ImportTraces id={id} revision={dataset.meta.revision} onClose={() => setOpen(undefined)} />
      )}
      {open === 'dialogue' && dataset && (
        <ImportDialogue id={id} revision={dataset.meta.revision} onClose={() => setOpen(undefined)} />
      )}
      {open === 'delete' && dataset && (
        <DeleteDataset
          id={id}
          revision={dataset.meta.revision}
          onDone={() => void navigate({ to: '/datasets', ignoreBlocker: true })}
          onClose={() => setOpen(undefined)}
        />
      )}
      {write.isRefused && (
        <ConfirmDialog
          title={t('conflict.title')}
          confirm={t('conflict.apply')}
          cancel={t('conflict.discard')}
          tone="primary"
          busy={write.busy}
          onConfirm={() => void write.again()}
          onClose={write.drop}
        >
          <p>{t('conflict.text')}</p>
        </ConfirmDialog>
      )}
    </Page>
  );
}
