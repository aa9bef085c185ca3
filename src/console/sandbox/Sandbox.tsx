import { lazy, Suspense, useState } from 'react';
import { Composer } from '../chat/Composer.tsx';
import { Conversation, useLastPrompt } from '../chat/Conversation.tsx';
import type { View } from '../chat/Message.tsx';
import { StatsBar } from '../chat/StatsBar.tsx';
import { statsOf } from '../chat/turn.ts';
import { ViewSwitch } from '../chat/ViewSwitch.tsx';
import { useResource } from '../data/queries.ts';
import { capabilities } from '../data/resources.ts';
import { Button, IconButton } from '../design/Button.tsx';
import { Chip } from '../design/Chip.tsx';
import { FilterSelect } from '../design/Field.tsx';
import { EmptyState, Notice } from '../design/Notice.tsx';
import { useTexts } from '../i18n/locale.ts';
import { EMPTY_PRESET, type Preset, storedPresets, storePresets, variablesOf } from './presets.ts';
import { blockedBy, modelOf, type SandboxProps } from './preview.ts';
import css from './Sandbox.module.css';
import texts from './texts.json' with { type: 'json' };
import { useIsScripted } from './use-is-scripted.ts';
import { usePreview } from './use-preview.ts';

const PresetDialog = lazy(() => import('./PresetDialog.tsx'));

/** The presets of this browser, and the one that applies to the next message. */
const usePresets = () => {
  const [presets, show] = useState(storedPresets);
  const [name, choose] = useState('');
  return {
    presets,
    chosen: presets.find((preset) => preset.name === name),
    choose,
    /** @param kept replaces the preset that is named `before` */
    put(before: string | undefined, kept: Preset | undefined) {
      const others = presets.filter((preset) => preset.name !== before);
      const after = kept ? [...others, kept].sort((a, b) => a.name.localeCompare(b.name)) : others;
      storePresets(after);
      show(after);
      choose(kept?.name ?? '');
    },
  };
};

const PresetBar = (props: ReturnType<typeof usePresets> & { variables: readonly string[] }) => {
  const t = useTexts(texts);
  const { presets, chosen, choose, put, variables } = props;
  const [edited, edit] = useState<Preset>();
  const known = edited && presets.find((preset) => preset === edited);
  const close = (): void => edit(undefined);
  return (
    <div className="row">
      {presets.length > 0 && (
        <FilterSelect
          label={t('preset')}
          value={chosen?.name ?? ''}
          options={[['', t('preset.none')], ...presets.map(({ name }) => [name, name] as const)]}
          onChange={choose}
        />
      )}
      {chosen && <IconButton small icon="edit" label={t('preset.change')} onClick={() => edit(chosen)} />}
      <IconButton small icon="plus" label={t('preset.new')} onClick={() => edit({ ...EMPTY_PRESET })} />
      {edited && (
        <Suspense>
          <PresetDialog
            preset={edited}
            others={presets.filter((preset) => preset !== known).map(({ name }) => name)}
            variables={variables}
            onDone={(kept) => {
              put(known?.name, kept);
              close();
            }}
            onRemove={
              known &&
              (() => {
                put(known.name, undefined);
                close();
              })
            }
            onClose={close}
          />
        </Suspense>
      )}
    </div>
  );
};

const RecentRuns = lazy(() => import('./RecentRuns.tsx'));
const Compare = lazy(() => import('./Compare.tsx'));
const Snippets = lazy(() => import('../snippets/SnippetDialog.tsx'));

type Overlay = 'runs' | 'compare' | 'snippets';

const Head = (props: {
  isStored: boolean;
  mayReset: boolean;
  onReset: () => void;
  onOpen: (overlay: Overlay) => void;
}) => {
  const t = useTexts(texts);
  return (
    <header className="bar">
      <h2 className="grow">{t('title')}</h2>
      {props.isStored && (
        <>
          <Button
            small
            tone="quiet"
            icon="history"
            data-testid="open-recent-traces"
            onClick={() => props.onOpen('runs')}
          >
            {t('runs')}
          </Button>
          <IconButton small icon="compare" label={t('compare')} onClick={() => props.onOpen('compare')} />
          <IconButton small icon="external" label={t('snippets')} onClick={() => props.onOpen('snippets')} />
        </>
      )}
      <IconButton
        small
        icon="refresh"
        label={t('common.newChat')}
        disabled={!props.mayReset}
        onClick={props.onReset}
      />
    </header>
  );
};

const Overlays = (props: SandboxProps & { overlay: Overlay | undefined; onClose: () => void }) => {
  const { overlay, storedId, draft, onClose } = props;
  if (overlay === undefined || storedId === undefined) return null;
  return (
    <Suspense>
      {overlay === 'runs' && <RecentRuns agentId={storedId} onClose={onClose} />}
      {overlay === 'compare' && <Compare draft={draft} storedId={storedId} onClose={onClose} />}
      {overlay === 'snippets' && <Snippets agentId={storedId} onClose={onClose} />}
    </Suspense>
  );
};

/** A chat next to the editor with the agent as it is being edited. The draft need not be stored. */
export default function Sandbox({ draft, storedId }: SandboxProps) {
  const t = useTexts(texts);
  const [view, setView] = useState<View>('readable');
  const [overlay, setOverlay] = useState<Overlay>();
  const presets = usePresets();
  const { talk, reset } = usePreview(draft, presets.chosen);
  const isScripted = useIsScripted(modelOf(draft));
  const localKind = useResource(capabilities).data?.backends[0]?.kind;
  const blocked = blockedBy(draft, localKind);
  const last = useLastPrompt(talk.messages);
  return (
    <aside className={`card column ${css.sandbox}`} aria-label={t('title')}>
      <Head
        isStored={storedId !== undefined}
        mayReset={talk.messages.length > 0}
        onReset={reset}
        onOpen={setOverlay}
      />
      <div className="row fixed inset">
        <ViewSwitch view={view} onChange={setView} />
        <PresetBar {...presets} variables={variablesOf(draft)} />
        {isScripted && <Chip title={t('scripted.hint')}>{t('scripted')}</Chip>}
      </div>
      {blocked && (
        <div className="foot">
          <Notice title={t(`blocked.${blocked}`)}>{t(`blocked.${blocked}.text`)}</Notice>
        </div>
      )}
      <Conversation
        talk={talk}
        view={view}
        empty={<EmptyState title={t('empty.title')}>{t('empty.text')}</EmptyState>}
      />
      <div className="foot">
        <Composer
          isBusy={talk.isBusy}
          disabled={blocked !== undefined}
          last={last}
          onSend={talk.send}
          onStop={talk.stop}
        />
      </div>
      <StatsBar stats={statsOf(talk.messages)} />
      <Overlays draft={draft} storedId={storedId} overlay={overlay} onClose={() => setOverlay(undefined)} />
    </aside>
  );
}
