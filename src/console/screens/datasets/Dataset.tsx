import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { statusOf } from '../../data/error.ts';
import { Button } from '../../design/Button.tsx';
import { ConfirmDialog } from '../../design/Dialog.tsx';
import { FileButton } from '../../design/FileButton.tsx';
import { InputField } from '../../design/Inputs.tsx';
import { Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { toast } from '../../feedback/toasts.ts';
import { useWork } from '../../feedback/use-work.ts';
import { type Dataset as DatasetRecord, EVALS_OFF, isScriptable } from '../../fixtures/dataset.ts';
import { useTexts } from '../../i18n/locale.ts';
import { download } from '../../list/download.ts';
import { OverflowMenu } from '../../list/RowMenu.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { useGo } from '../../navigation/links.tsx';
import { NoSuch } from '../../navigation/NoSuch.tsx';
import { UnsavedGuard } from '../../navigation/UnsavedGuard.tsx';
import { isRunning, useEvalRuns } from '../eval-runs/runs.ts';
import css from './Datasets.module.css';
import { DeleteDataset } from './DeleteDataset.tsx';
import { Fixtures } from './Fixtures.tsx';
import { fixturesIn } from './fixture.ts';
import { fixturesImported } from './fixture-changes.ts';
import { ImportDialogue } from './ImportDialogue.tsx';
import { ImportTraces } from './ImportTraces.tsx';
import { RunPanel } from './RunPanel.tsx';
import { modelsIn, type RunSettings, startRun } from './run-request.ts';
import texts from './texts.json' with { type: 'json' };
import { type DatasetWrite, useDatasetWrite } from './write.ts';

const Description = ({ description, write }: { description: string; write: DatasetWrite }) => {
  const t = useTexts(texts);
  /** Undefined while unchanged. */
  const [typed, type] = useState<string>();
  if (typed === description) type(undefined);
  const isDirty = typed !== undefined && typed !== description;
  return (
    <form
      className={`row narrow ${css.description}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (isDirty) void write.change((spec) => ({ ...spec, description: typed }));
      }}
    >
      <InputField label={t('column.description')} value={typed ?? description} onChange={type} />
      {isDirty && (
        <Button type="submit" disabled={write.busy}>
          {t('fixture.save')}
        </Button>
      )}
      <UnsavedGuard isDirty={isDirty} />
    </form>
  );
};

/** The reason why the dataset cannot be run with these settings; undefined if it can. */
const useObstacle = (settings: RunSettings, dataset: DatasetRecord | undefined): string | undefined => {
  const t = useTexts(texts);
  if (!dataset || dataset.spec.fixtures.length === 0) return t('fixture.empty');
  if (settings.mode === 'live') return modelsIn(settings).length === 0 ? t('run.noModels') : undefined;
  return dataset.spec.fixtures.some(isScriptable) ? undefined : t('run.liveOnly');
};

const ImportFile = ({ write }: { write: DatasetWrite }) => {
  const t = useTexts(texts);
  const load = async (file: File): Promise<void> => {
    try {
      const fixtures = fixturesIn(await file.text());
      const isStored = await write.change(fixturesImported(fixtures));
      if (isStored) toast('success', t('import.done', { count: fixtures.length }));
    } catch (error) {
      toast('error', t('import.failed', { why: error instanceof Error ? error.message : '' }));
    }
  };
  return (
    <FileButton
      label={t('import.file')}
      accept=".json,application/json"
      disabled={write.busy}
      onFile={(file) => void load(file)}
    >
      {t('import.file')}
    </FileButton>
  );
};

/** Test cases without recorded completions can be executed by models only. */
const usualMode = (asked: string | undefined, fixtures: DatasetRecord['spec']['fixtures']): string =>
  asked === 'live' || (fixtures.length > 0 && !fixtures.some(isScriptable)) ? 'live' : 'scripted';

const useRunStart = (id: string, dataset: DatasetRecord | undefined) => {
  const go = useGo();
  const [{ mode }] = useQueryState();
  const [chosen, setSettings] = useState<RunSettings>();
  const settings: RunSettings = chosen ?? { mode: usualMode(mode, dataset?.spec.fixtures ?? []) };
  const [busy, work] = useWork();
  const ended = (useEvalRuns(id).data ?? []).filter((run) => !isRunning(run) && run.item_count > 0);
  const baselines = ended.filter(
    (run) => run.dataset_revision === dataset?.meta.revision && run.execution_mode === settings.mode,
  );
  const baseline = baselines.find((run) => run.id === settings.baseline_run_id)?.id;
  const request = { ...settings, baseline_run_id: baseline };
  const start = async (): Promise<void> => {
    const run = encodeURIComponent(await startRun(id, request));
    go(`/eval-runs/${run}${baseline === undefined ? '' : `?baseline=${encodeURIComponent(baseline)}`}`);
  };
  return { settings: request, setSettings, baselines, lastRun: ended[0]?.id, busy, start: () => work(start) };
};

type Overlay = 'traces' | 'dialogue' | 'delete';

const Actions = (props: {
  id: string;
  write: DatasetWrite;
  isBusy: boolean;
  obstacle: string | undefined;
  onStart: () => void;
  onOpen: (overlay: Overlay) => void;
}) => {
  const t = useTexts(texts);
  const { id, write, obstacle, onOpen } = props;
  const save = (): void =>
    download(`${id}.json`, 'application/json', JSON.stringify({ id, ...write.query.data }, null, 2));
  return (
    <>
      <Button
        tone="primary"
        icon="runs"
        disabled={props.isBusy || obstacle !== undefined}
        title={obstacle}
        onClick={props.onStart}
      >
        {t('run')}
      </Button>
      <Button onClick={() => onOpen('traces')}>{t('traces.title')}</Button>
      <Button onClick={() => onOpen('dialogue')}>{t('dialogue.title')}</Button>
      <ImportFile write={write} />
      <OverflowMenu
        label={t('more', { id })}
        items={[
          { label: t('runs'), icon: 'evalRuns', act: `/eval-runs?dataset=${encodeURIComponent(id)}` },
          { label: t('common.exportJson'), icon: 'download', act: save },
          { label: t('delete.confirm'), icon: 'trash', tone: 'danger', act: () => onOpen('delete') },
        ]}
      />
    </>
  );
};

const Overlays = (props: {
  open: Overlay | undefined;
  id: string;
  revision: number;
  onClose: () => void;
}) => {
  const navigate = useNavigate();
  const { open, ...rest } = props;
  switch (open) {
    case 'traces':
      return <ImportTraces {...rest} />;
    case 'dialogue':
      return <ImportDialogue {...rest} />;
    case 'delete':
      return (
        <DeleteDataset {...rest} onDone={() => void navigate({ to: '/datasets', ignoreBlocker: true })} />
      );
    default:
      return null;
  }
};

const ConflictDialog = ({ write }: { write: DatasetWrite }) => {
  const t = useTexts(texts);
  return (
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
  );
};

export default function Dataset() {
  const t = useTexts(texts);
  const { id = '' } = useParams({ strict: false });
  const write = useDatasetWrite(id);
  const { query } = write;
  const dataset = query.data;
  const [open, setOpen] = useState<Overlay>();
  const run = useRunStart(id, dataset);
  const obstacle = useObstacle(run.settings, dataset);
  if (statusOf(query.error) === 404) {
    return <NoSuch title={t('notFound', { id })} to="/datasets" all={t('all')} />;
  }
  return (
    <Page
      title={id}
      count={dataset && t('revision', { revision: dataset.meta.revision })}
      actions={
        <Actions
          id={id}
          write={write}
          isBusy={run.busy}
          obstacle={obstacle}
          onStart={run.start}
          onOpen={setOpen}
        />
      }
    >
      <Loaded query={query} off={EVALS_OFF}>
        {({ spec }) => (
          <>
            <Description description={spec.description} write={write} />
            {obstacle !== undefined && spec.fixtures.length > 0 && <p className="quiet">{obstacle}</p>}
            <RunPanel
              settings={run.settings}
              fixtures={spec.fixtures.length}
              baselines={run.baselines}
              onChange={run.setSettings}
            />
            <Fixtures fixtures={spec.fixtures} write={write} lastRun={run.lastRun} />
          </>
        )}
      </Loaded>
      {dataset && (
        <Overlays open={open} id={id} revision={dataset.meta.revision} onClose={() => setOpen(undefined)} />
      )}
      {write.isRefused && <ConflictDialog write={write} />}
    </Page>
  );
}
