// Clients of a controller quorum on franz-go, whose history is checked for linearizability by Porcupine.
//
// Each client asks the active controller to create, delete, configure and describe topics of few names, which change over
// time, to grant, revoke and list ACLs of as few principals, and, as a broker, to allocate producer ids and to alter the ISR of the
// partitions that it leads. An answer that leaves the outcome open leaves the operation open. The history is checked name by
// name.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	names       = 4
	window      = 4 * time.Second
	timeout     = 2 * time.Second
	start       = 20 * time.Second
	brokers     = 3
	pause       = 4 * time.Millisecond
	backoff     = 100 * time.Millisecond
	key         = "retention.ms"
	notFound    = 3
	exists      = 36
	staleEpoch  = 95
	checkLimit  = 2 * time.Minute
	quorumTopic = "__cluster_metadata"
	producerIDs = "producer-ids"
)

// clock is monotonic, in nanoseconds since the start.
type recorder struct {
	mutex   sync.Mutex
	began   time.Time
	history []porcupine.Operation
	counts  map[string]int
	// fault: the present one; during: the counts while each fault lasted.
	fault  string
	during map[string]map[string]int
}

func (r *recorder) now() int64 { return int64(time.Since(r.began)) }

func (r *recorder) add(op porcupine.Operation) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.history = append(r.history, op)
	in, out := op.Input.(input), op.Output.(output)
	kind := in.Kind + " " + out.Kind
	r.counts[kind]++
	if r.during[r.fault] == nil {
		r.during[r.fault] = map[string]int{}
	}
	r.during[r.fault][kind]++
}

// follow reads the name of each fault that begins, and an empty line when it has ended.
func (r *recorder) follow(faults *bufio.Scanner) {
	for faults.Scan() {
		r.mutex.Lock()
		r.fault = faults.Text()
		r.mutex.Unlock()
	}
}

// brokerEpoch is a registered broker.
type brokerEpoch struct {
	id    int32
	epoch int64
}

// client is one thread with one connection at a time: to seed `at`, which leads in `epoch`.
type client struct {
	id       int
	rng      *rand.Rand
	addrs    []string
	parts    *partitions
	recorder *recorder
	kafka    *kgo.Client
	node     *kgo.Broker
	epoch    int32
	// A new leader may know less than is committed until it has committed a record itself: its reads count after a write.
	wrote bool
}

func (c *client) request(req kmsg.Request) (kmsg.Response, error) {
	return c.requestWithin(req, timeout)
}

func (c *client) requestWithin(req kmsg.Request, limit time.Duration) (kmsg.Response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return c.node.Request(ctx, req)
}

// leadingEpoch asks the node: -1 where it does not lead, or does not answer.
func (c *client) leadingEpoch() int32 {
	req := kmsg.NewPtrDescribeQuorumRequest()
	topic := kmsg.NewDescribeQuorumRequestTopic()
	topic.Topic = quorumTopic
	topic.Partitions = []kmsg.DescribeQuorumRequestTopicPartition{{}}
	req.Topics = append(req.Topics, topic)
	res, err := c.request(req)
	if err != nil {
		return -1
	}
	found := res.(*kmsg.DescribeQuorumResponse)
	if found.ErrorCode != 0 || len(found.Topics) == 0 || len(found.Topics[0].Partitions) == 0 {
		return -1
	}
	partition := found.Topics[0].Partitions[0]
	if partition.ErrorCode != 0 {
		return -1
	}
	return partition.LeaderEpoch
}

func (c *client) connect() bool {
	for _, at := range c.rng.Perm(len(c.addrs)) {
		kafka, err := kgo.NewClient(
			kgo.SeedBrokers(c.addrs[at]), kgo.RequestRetries(0), kgo.RetryTimeout(timeout), kgo.DialTimeout(timeout),
			kgo.RequestTimeoutOverhead(timeout),
		)
		if err != nil {
			panic(err)
		}
		c.kafka, c.node = kafka, kafka.SeedBrokers()[0]
		if c.epoch = c.leadingEpoch(); c.epoch >= 0 {
			return true
		}
		c.letGo()
	}
	return false
}

func (c *client) letGo() {
	if c.kafka != nil {
		c.kafka.Close()
	}
	c.kafka, c.node, c.wrote = nil, nil, false
}

func (c *client) run(until time.Time) {
	for time.Now().Before(until) {
		time.Sleep(pause)
		if c.kafka == nil && !c.connect() {
			time.Sleep(backoff)
			continue
		}
		asked := c.draw()
		if asked.isRead() && !c.wrote {
			continue
		}
		call := c.recorder.now()
		answer := c.ask(asked)
		returned := c.recorder.now()
		if answer.Kind == "open" {
			c.letGo()
			time.Sleep(backoff)
			if asked.isRead() || asked.Kind == "allocate" {
				continue
			}
			// It may take effect at any later time, or never.
			returned = int64(1) << 60
		} else if !asked.isRead() && answer.Kind != "stale" {
			c.wrote = true
		}
		c.recorder.add(porcupine.Operation{ClientId: c.id, Input: asked, Call: call, Output: answer, Return: returned})
	}
	c.letGo()
}

func (c *client) draw() input {
	generation := int(time.Since(c.recorder.began) / window)
	name := fmt.Sprintf("p-%d-%d", generation, c.rng.Intn(names))
	switch kind := c.rng.Intn(20); {
	case kind < 2:
		return input{Kind: "create", Name: name}
	case kind < 3:
		return input{Kind: "delete", Name: name}
	case kind < 6:
		return input{Kind: "set", Name: name, Value: strconv.Itoa(1000 + c.rng.Intn(1000000))}
	case kind < 7:
		return input{Kind: "allocate", Name: producerIDs}
	case kind < 8:
		return input{Kind: "grant", Name: "User:" + name}
	case kind < 9:
		return input{Kind: "revoke", Name: "User:" + name}
	case kind < 12:
		return input{Kind: "list", Name: "User:" + name}
	case kind < 16:
		return c.parts.draw(c.rng, min(generation, len(c.parts.topics)-1))
	}
	return input{Kind: "read", Name: name}
}

func (c *client) ask(asked input) output {
	open := output{Kind: "open"}
	switch asked.Kind {
	case "create":
		req := kmsg.NewPtrCreateTopicsRequest()
		req.TimeoutMillis = int32(timeout / time.Millisecond)
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = asked.Name, 1, 1
		req.Topics = append(req.Topics, topic)
		res, err := c.request(req)
		if err != nil || len(res.(*kmsg.CreateTopicsResponse).Topics) != 1 {
			return open
		}
		found := res.(*kmsg.CreateTopicsResponse).Topics[0]
		return outcome(found.ErrorCode, fmt.Sprintf("%x", found.TopicID))
	case "delete":
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.TimeoutMillis = int32(timeout / time.Millisecond)
		topic := kmsg.NewDeleteTopicsRequestTopic()
		topic.Topic = kmsg.StringPtr(asked.Name)
		req.TopicNames, req.Topics = []string{asked.Name}, append(req.Topics, topic)
		res, err := c.request(req)
		if err != nil || len(res.(*kmsg.DeleteTopicsResponse).Topics) != 1 {
			return open
		}
		found := res.(*kmsg.DeleteTopicsResponse).Topics[0]
		return outcome(found.ErrorCode, fmt.Sprintf("%x", found.TopicID))
	case "set":
		req := kmsg.NewPtrIncrementalAlterConfigsRequest()
		resource := kmsg.NewIncrementalAlterConfigsRequestResource()
		resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, asked.Name
		config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		config.Name, config.Value = key, kmsg.StringPtr(asked.Value)
		resource.Configs = append(resource.Configs, config)
		req.Resources = append(req.Resources, resource)
		res, err := c.request(req)
		if err != nil || len(res.(*kmsg.IncrementalAlterConfigsResponse).Resources) != 1 {
			return open
		}
		return outcome(res.(*kmsg.IncrementalAlterConfigsResponse).Resources[0].ErrorCode, "")
	case "allocate":
		req := kmsg.NewPtrAllocateProducerIDsRequest()
		req.BrokerID, req.BrokerEpoch = c.parts.brokers[0].id, c.parts.brokers[0].epoch
		res, err := c.request(req)
		if err != nil {
			return open
		}
		found := res.(*kmsg.AllocateProducerIDsResponse)
		return outcome(found.ErrorCode, strconv.FormatInt(found.ProducerIDStart, 10))
	case "alter":
		return c.parts.alter(c, asked)
	case "grant", "revoke", "list":
		return c.askACL(asked)
	}
	req := kmsg.NewPtrDescribeConfigsRequest()
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, asked.Name
	resource.ConfigNames = []string{key}
	req.Resources = append(req.Resources, resource)
	res, err := c.request(req)
	if err != nil || len(res.(*kmsg.DescribeConfigsResponse).Resources) != 1 || c.leadingEpoch() != c.epoch {
		return open
	}
	found := res.(*kmsg.DescribeConfigsResponse).Resources[0]
	value := ""
	for _, config := range found.Configs {
		if config.Source == kmsg.ConfigSourceDynamicTopicConfig && config.Value != nil {
			value = *config.Value
		}
	}
	return outcome(found.ErrorCode, value)
}

// askACL asks for the one ACL of a principal. The value is how many there are, or were revoked.
func (c *client) askACL(asked input) output {
	open := output{Kind: "open"}
	topic, host := kmsg.StringPtr("t"), kmsg.StringPtr("*")
	switch asked.Kind {
	case "grant":
		req := kmsg.NewPtrCreateACLsRequest()
		acl := kmsg.NewCreateACLsRequestCreation()
		acl.ResourceType, acl.ResourceName, acl.Principal, acl.Host = kmsg.ACLResourceTypeTopic, *topic, asked.Name, *host
		acl.Operation, acl.PermissionType = kmsg.ACLOperationDescribe, kmsg.ACLPermissionTypeAllow
		req.Creations = append(req.Creations, acl)
		res, err := c.request(req)
		if err != nil || len(res.(*kmsg.CreateACLsResponse).Results) != 1 {
			return open
		}
		return outcome(res.(*kmsg.CreateACLsResponse).Results[0].ErrorCode, "")
	case "revoke":
		req := kmsg.NewPtrDeleteACLsRequest()
		acl := kmsg.NewDeleteACLsRequestFilter()
		acl.ResourceType, acl.ResourceName, acl.Principal, acl.Host = kmsg.ACLResourceTypeTopic, topic, &asked.Name, host
		acl.Operation, acl.PermissionType = kmsg.ACLOperationDescribe, kmsg.ACLPermissionTypeAllow
		req.Filters = append(req.Filters, acl)
		res, err := c.request(req)
		if err != nil || len(res.(*kmsg.DeleteACLsResponse).Results) != 1 {
			return open
		}
		found := res.(*kmsg.DeleteACLsResponse).Results[0]
		return outcome(found.ErrorCode, strconv.Itoa(len(found.MatchingACLs)))
	}
	req := kmsg.NewPtrDescribeACLsRequest()
	req.ResourceType, req.ResourceName, req.Principal, req.Host = kmsg.ACLResourceTypeTopic, topic, &asked.Name, host
	req.Operation, req.PermissionType = kmsg.ACLOperationDescribe, kmsg.ACLPermissionTypeAllow
	res, err := c.request(req)
	if err != nil || c.leadingEpoch() != c.epoch {
		return open
	}
	found := res.(*kmsg.DescribeACLsResponse)
	return outcome(found.ErrorCode, strconv.Itoa(len(found.Resources)))
}

// outcome is open for all errors but those that tell the state of the topic.
func outcome(code int16, value string) output {
	switch code {
	case 0:
		return output{Kind: "ok", Value: value}
	case notFound:
		return output{Kind: "absent"}
	case exists:
		return output{Kind: "exists"}
	case staleEpoch:
		return output{Kind: "stale"}
	}
	return output{Kind: "open"}
}

func main() {
	seeds := flag.String("seeds", "", "addresses of the controllers, with commas")
	seconds := flag.Int("seconds", 60, "how long")
	clients := flag.Int("clients", 4, "how many")
	seed := flag.Int64("seed", 1, "of the clients")
	registered := flag.String("brokers", "", "three that are registered, as ID:EPOCH, with commas")
	page := flag.String("page", "", "a file for the visualization of a history that is not linearizable")
	flag.Parse()
	parts := &partitions{}
	for _, each := range strings.Split(*registered, ",") {
		var broker brokerEpoch
		if _, err := fmt.Sscanf(each, "%d:%d", &broker.id, &broker.epoch); err != nil {
			panic(err)
		}
		parts.brokers = append(parts.brokers, broker)
	}
	addresses := strings.Split(*seeds, ",")
	creator := &client{rng: rand.New(rand.NewSource(*seed)), addrs: addresses}
	parts.create(creator, 1+*seconds/int(window/time.Second))
	fmt.Println("ready")
	recorder := &recorder{began: time.Now(), counts: map[string]int{}, during: map[string]map[string]int{}}
	go recorder.follow(bufio.NewScanner(os.Stdin))
	until := recorder.began.Add(time.Duration(*seconds) * time.Second)
	var all sync.WaitGroup
	for id := range *clients {
		all.Add(1)
		go func() {
			defer all.Done()
			c := client{
				id: id, rng: rand.New(rand.NewSource(*seed*1000 + int64(id))), addrs: addresses,
				recorder: recorder, parts: parts,
			}
			c.run(until)
		}()
	}
	all.Wait()
	began := time.Now()
	result := porcupine.CheckOperationsTimeout(model, recorder.history, checkLimit)
	said, _ := json.Marshal(map[string]any{
		"operations": len(recorder.history), "counts": recorder.counts, "result": result,
		"check_seconds": time.Since(began).Seconds(), "during": recorder.during,
	})
	fmt.Println(string(said))
	if result == porcupine.Illegal && *page != "" {
		// A check that keeps what the page needs takes many times the memory.
		_, info := porcupine.CheckOperationsVerbose(model, recorder.history, checkLimit)
		if err := porcupine.VisualizePath(model, info, *page); err != nil {
			panic(err)
		}
	}
	if result != porcupine.Ok {
		os.Exit(1)
	}
}
