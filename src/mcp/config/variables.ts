import { homedir } from 'node:os';
import { sep } from 'node:path';

export interface VariableContext {
  readonly workspaceFolder?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Those of this machine, unless they are given. */
  readonly userHome?: string;
  readonly pathSeparator?: string;
  /** Told the name of each environment variable whose value was put in. */
  readonly onEnvironment?: (name: string) => void;
}

/** `asWritten` leaves the variables in place, and only looks whether they are known. */
export type Expansion = VariableContext | 'asWritten';

const VARIABLE = /\$\{([^}]*)\}/g;
const ENVIRONMENT = 'env:';
const INPUT = 'input:';

/**
 * Replaces the variables of a configuration. `${input:ID}` stays as it is: nobody is asked for anything while a
 * configuration is read. Throws an Error that says what to do about a variable that has no value: an empty string
 * in its place would start a wrong command or send an empty token.
 */
export function expandVariables(text: string, expansion: Expansion): string {
  return text.replace(VARIABLE, (whole, name: string) => {
    if (!isKnown(name)) {
      throw new Error(
        `it uses ${whole}; only \${workspaceFolder}, \${userHome}, \${pathSeparator}, \${env:NAME} and \${input:ID} are known here`,
      );
    }
    return expansion === 'asWritten' || name.startsWith(INPUT) ? whole : lookUp(whole, name, expansion);
  });
}

const PLAIN_NAMES: ReadonlySet<string> = new Set(['workspaceFolder', 'userHome', 'pathSeparator', '/']);

function isKnown(name: string): boolean {
  return (
    PLAIN_NAMES.has(name) ||
    name.startsWith(ENVIRONMENT) ||
    (name.startsWith(INPUT) && name.length > INPUT.length)
  );
}

function lookUp(whole: string, name: string, context: VariableContext): string {
  switch (name) {
    case 'workspaceFolder':
      if (context.workspaceFolder === undefined) {
        throw new Error(`it uses ${whole}, but no folder is open; open one or write the path`);
      }
      return context.workspaceFolder;
    case 'userHome':
      return context.userHome ?? homedir();
    case 'pathSeparator':
    case '/':
      return context.pathSeparator ?? sep;
    default:
      return lookUpEnvironment(whole, name.slice(ENVIRONMENT.length), context);
  }
}

function lookUpEnvironment(whole: string, variable: string, context: VariableContext): string {
  const value = Object.hasOwn(context.env, variable) ? context.env[variable] : undefined;
  if (value === undefined) {
    throw new Error(`it uses ${whole}, but that environment variable is not set; set it and start again`);
  }
  context.onEnvironment?.(variable);
  return value;
}
