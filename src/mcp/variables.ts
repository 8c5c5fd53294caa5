export interface VariableContext {
  readonly workspaceFolder?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const VARIABLE = /\$\{([^}]*)\}/g;

/**
 * Replaces `${workspaceFolder}` and `${env:NAME}`. Throws an Error that says what to do about a variable that has
 * no value: an empty string in its place would start a wrong command or send an empty token.
 */
export function expandVariables(text: string, context: VariableContext): string {
  return text.replace(VARIABLE, (whole, name: string) => lookUp(whole, name, context));
}

function lookUp(whole: string, name: string, context: VariableContext): string {
  if (name === 'workspaceFolder') {
    if (context.workspaceFolder === undefined) {
      throw new Error(`it uses ${whole}, but no folder is open; open one or write the path`);
    }
    return context.workspaceFolder;
  }
  if (name.startsWith('env:')) {
    const variable = name.slice('env:'.length);
    const value = Object.hasOwn(context.env, variable) ? context.env[variable] : undefined;
    if (value === undefined) {
      throw new Error(`it uses ${whole}, but that environment variable is not set; set it and start again`);
    }
    return value;
  }
  throw new Error(`it uses ${whole}; only \${workspaceFolder} and \${env:NAME} are known here`);
}
