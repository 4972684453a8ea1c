package kraft.tests;

import java.io.File;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Stream;

import org.junit.platform.commons.annotation.Testable;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.HierarchyTraversalMode;
import org.junit.platform.commons.support.ReflectionSupport;

/** Prints the names of Kafka's test classes that start a cluster: by the annotations, or by the older harness. */
public final class Classes {
    private static final Set<String> ANNOTATIONS = Set.of("ClusterTest", "ClusterTests", "ClusterTemplate", "ClusterFeature");
    private static final Set<String> KITS = Set.of("org.apache.kafka.server.KRaftClusterTest", "kafka.server.RaftClusterSnapshotTest");

    private Classes() {
    }

    public static void main(String[] jars) throws Exception {
        Set<String> names = new TreeSet<>();
        for (String jar : jars) {
            try (JarFile file = new JarFile(new File(jar))) {
                file.stream().map(entry -> entry.getName()).filter(name -> name.endsWith("Test.class")).forEach(name -> {
                    String type = name.substring(0, name.length() - ".class".length()).replace('/', '.');
                    if (isListed(type)) {
                        names.add(type);
                    }
                });
            }
        }
        names.forEach(System.out::println);
    }

    /** Whether a class has tests and starts a cluster, or cannot be loaded: then it is run, and fails. */
    static boolean isListed(String name) {
        try {
            Class<?> harness = Class.forName("kafka.server.QuorumTestHarness");
            Class<?> type = Class.forName(name, false, Classes.class.getClassLoader());
            // Those that are not public too, and those of the classes above it.
            List<Method> tests = ReflectionSupport.findMethods(
                type, method -> AnnotationSupport.isAnnotated(method, Testable.class), HierarchyTraversalMode.TOP_DOWN);
            return !Modifier.isAbstract(type.getModifiers()) && !tests.isEmpty()
                && (harness.isAssignableFrom(type) || KITS.contains(name) || tests.stream().anyMatch(Classes::hasCluster));
        } catch (Exception | LinkageError error) {
            System.err.println(name + ": " + error);
            return true;
        }
    }

    private static boolean hasCluster(Method method) {
        return Stream.of(method.getAnnotations())
            .anyMatch(each -> ANNOTATIONS.contains(each.annotationType().getSimpleName()));
    }
}
