import { lazy, Suspense, useState } from 'react';
import { IconButton } from '../design/Button.tsx';
import { FilterSelect } from '../design/Field.tsx';
import { useTexts } from '../i18n/locale.ts';
import { EMPTY_PRESET, type Preset, storedPresets, storePresets } from './presets.ts';
import texts from './texts.json' with { type: 'json' };

const PresetDialog = lazy(() => import('./PresetDialog.tsx'));

/** The presets of this browser, and the one that applies to the next message. */
export const usePresets = () => {
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

export const PresetBar = (props: ReturnType<typeof usePresets> & { variables: readonly string[] }) => {
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
